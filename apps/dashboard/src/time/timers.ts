/** Timers of a page; a test brings its own. */
export interface Timers {
  /** Milliseconds that only grow. */
  readonly now: () => number;
  /** Returns what takes it back. */
  readonly after: (delayMs: number, action: () => void) => () => void;
}

export function windowTimers(): Timers {
  return {
    now: () => performance.now(),
    after: (delayMs, action) => {
      const timer = setTimeout(action, delayMs);
      return () => clearTimeout(timer);
    },
  };
}
