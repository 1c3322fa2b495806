import { Gauge, type Registry } from "prom-client";
import type { Watched } from "./metrics.ts";

/** Adds gauges that are read off what is watched when Prometheus asks; 0 while nothing is. */
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
