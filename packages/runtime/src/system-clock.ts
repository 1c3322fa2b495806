import type { Clock } from "@resource-broker/base";

/** Longer timers fire at once in Node. Callers check the time again, so an early callback is harmless. */
const LONGEST_MS = 2 ** 31 - 1;

/** Clock of the process. The wall clock is passed in, so that only main.ts reads it. */
export function systemClock(wallMs: () => number): Clock {
  return {
    wallMs,
    monotonicMs: () => performance.now(),
    after: (delayMs, action) => {
      const timer = setTimeout(action, Math.min(delayMs, LONGEST_MS));
      return () => clearTimeout(timer);
    },
  };
}
