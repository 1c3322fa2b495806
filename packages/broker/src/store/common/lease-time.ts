import type { Clock } from "@resource-broker/base";

/** A moment by both clocks of this machine. */
export interface LeaseTime {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The clocks may disagree by this part of a lease: they are slewed, and they are not read in the same instant. */
const MAX_CLOCK_SKEW = 1 / 6;

export function leaseTime(clock: Pick<Clock, "monotonicMs" | "wallMs">): LeaseTime {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/**
 * Whether a lease that was renewed at `since` is still valid. Linux stops the monotonic clock while the machine is
 * suspended, and the wall clock may be set. The lease is valid only if both clocks say so and agree. Otherwise only the
 * store knows the leader.
 */
export function isLeaseValid(renewedAt: LeaseTime, now: LeaseTime, leaseMs: number): boolean {
  const elapsedMs = now.monotonicMs - renewedAt.monotonicMs;
  const onWallMs = now.wallMs - renewedAt.wallMs;
  return (
    Math.max(elapsedMs, onWallMs) < leaseMs && Math.abs(onWallMs - elapsedMs) <= leaseMs * MAX_CLOCK_SKEW
  );
}
