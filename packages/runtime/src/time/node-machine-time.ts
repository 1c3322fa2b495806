import type { MachineTime } from "./machine-time.ts";

/** Node fires a timer of more than this at once; early is better than at once, whoever waits looks again. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's own clocks and timers. The wall clock is handed in, so that only a program's main reads it. */
export function nodeMachineTime(wallMs: () => number): MachineTime {
  return {
    wallMs,
    monotonicMs: () => performance.now(),
    after: (delayMs, action) => {
      const timer = setTimeout(action, Math.min(delayMs, LONGEST_MS));
      return () => clearTimeout(timer);
    },
  };
}
