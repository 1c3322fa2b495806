import { Gauge, type Registry } from "prom-client";
import type { Watched } from "./metrics.ts";

/** Adds gauges that read the metrics source at scrape time; 0 while there is none. */
export function watchedGauge(registry: Registry, watched: () => Watched | undefined) {
  return (name: string, help: string, read: (from: Watched) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const from = watched();
        this.set(from === undefined ? 0 : read(from));
      },
    });
  };
}
