import type { Clock } from "@resource-broker/runtime";

/** A moment by both clocks of this machine. */
export interface LeaseMoment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The clocks may disagree by this part of a lease: they are slewed, and they are not read in the same instant. */
const DISAGREEMENT = 1 / 6;

export function leaseMoment(clock: Pick<Clock, "monotonicMs" | "wallMs">): LeaseMoment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/**
 * Whether a lease that was renewed at `since` is still valid. Linux stops the monotonic clock while the machine is
 * suspended, and the wall clock may be set. The lease is valid only if both clocks say so and agree. Otherwise only the
 * store knows the leader.
 */
export function isHeld(since: LeaseMoment, now: LeaseMoment, leaseMs: number): boolean {
  const elapsedMs = now.monotonicMs - since.monotonicMs;
  const onWallMs = now.wallMs - since.wallMs;
  return Math.max(elapsedMs, onWallMs) < leaseMs && Math.abs(onWallMs - elapsedMs) <= leaseMs * DISAGREEMENT;
}
