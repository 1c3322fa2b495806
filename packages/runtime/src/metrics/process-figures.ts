import type { MetricsRegistry } from "./figures.ts";

const MICROSECONDS = 1e6;

/** CPU and memory metrics of the process. */
export function addProcessMetrics(registry: MetricsRegistry): void {
  registry.collector(
    { name: "process_resident_memory_bytes", help: "Memory of the process in RAM.", type: "gauge" },
    () => [{ value: process.memoryUsage.rss() }],
  );
  registry.collector(
    {
      name: "process_cpu_seconds_total",
      help: "CPU time of the process, user and system.",
      type: "counter",
    },
    () => {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / MICROSECONDS }];
    },
  );
}
