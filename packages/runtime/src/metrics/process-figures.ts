import type { Figures } from "./figures.ts";

const MICROSECONDS = 1e6;

/** CPU and memory metrics of the process. */
export function addProcessFigures(figures: Figures): void {
  figures.read(
    { name: "process_resident_memory_bytes", help: "Memory of the process in RAM.", type: "gauge" },
    () => [{ value: process.memoryUsage.rss() }],
  );
  figures.read(
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
