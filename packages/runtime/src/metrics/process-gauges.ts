import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "prom-client";

const LAG_RESOLUTION_MS = 100;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/** CPU, memory and event loop metrics of the process. The returned function stops the measurement. */
export function registerProcessGauges(registry: Registry): () => void {
  const registers = [registry];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Memory of the process in RAM.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the process, user and system.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROSECONDS);
    },
  });
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  new Gauge({
    name: "nodejs_eventloop_lag_p99_seconds",
    help: "How late the event loop was, 99th percentile since the last scrape.",
    registers,
    collect() {
      // The timer's own period is part of what is measured.
      const late = lag.percentile(99) / NANOSECONDS - LAG_RESOLUTION_MS / 1000;
      this.set(lag.count === 0 ? 0 : Math.max(0, late));
      lag.reset();
    },
  });
  return () => lag.disable();
}
