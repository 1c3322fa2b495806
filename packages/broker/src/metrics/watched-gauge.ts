import { Gauge, type Registry } from "prom-client";
import type { MetricsSource } from "./metrics.ts";

/** Adds gauges that read the metrics source at scrape time; 0 while there is none. */
export function sourceGauge(registry: Registry, source: () => MetricsSource | undefined) {
  return (name: string, help: string, read: (from: MetricsSource) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const from = source();
        this.set(from === undefined ? 0 : read(from));
      },
    });
  };
}
