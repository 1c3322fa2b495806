import type { MachineTime } from "./machine-time.ts";

/** The machine's own clocks and timers. The wall clock is handed in, so that only a program's main reads it. */
export function nodeMachineTime(wallMs: () => number): MachineTime {
  return {
    wallMs,
    monotonicMs: () => performance.now(),
    after: (delayMs, action) => {
      const timer = setTimeout(action, delayMs);
      return () => clearTimeout(timer);
    },
  };
}
