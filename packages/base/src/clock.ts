/** Wall clock, monotonic clock and timers. The wall clock may jump. */
export interface Clock {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  /** Calls back once after the delay; the returned function cancels it. */
  readonly after: (delayMs: number, action: () => void) => () => void;
}
