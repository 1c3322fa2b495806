import type { Clock } from "@resource-broker/base";
import type { Instant } from "@resource-broker/domain";

/**
 * The broker's time, which never runs backwards: it starts at the wall clock, but never before `earliest`, and from then on
 * follows the monotonic clock alone.
 */
export function startLedgerClock(clock: Clock, earliest: Instant): () => Instant {
  const startedAt = Math.max(clock.wallMs(), earliest);
  const zero = clock.monotonicMs();
  return () => startedAt + Math.floor(clock.monotonicMs() - zero);
}
