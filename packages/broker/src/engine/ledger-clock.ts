import type { Clock } from "@resource-broker/base";
import type { Instant } from "@resource-broker/domain";

/** The broker's clock. `now` never runs backwards; timers fire by the same clock. */
export interface LedgerClock {
  readonly now: () => Instant;
  /** Calls back once after the delay; the returned function takes it back. */
  readonly after: (delayMs: number, action: () => void) => () => void;
}

/** Starts at the wall clock, but never before `earliest`, and from then on follows the monotonic clock alone. */
export function startLedgerClock(clock: Clock, earliest: Instant): LedgerClock {
  const startedAt = Math.max(clock.wallMs(), earliest);
  const zero = clock.monotonicMs();
  return {
    now: () => startedAt + Math.floor(clock.monotonicMs() - zero),
    after: clock.after,
  };
}
