import { amountOf, larger, type ResourceVector, resourceNames } from "@resource-broker/base";

/** The shortest time between two advertisements, unless available resources have shrunk. */
export const MIN_INTERVAL_MS = 5000;
/** Changes below this share wait for the next regular advertisement. */
const MATERIAL_SHARE = 0.01;
/** When available resources fall by more than this share, the change is published at once. */
const URGENT_SHARE = 0.1;

/** The state that decides when the next advertisement is due. */
export interface PublishState {
  readonly allocatable: ResourceVector;
  readonly allocated: ResourceVector;
  readonly available: ResourceVector;
  /** Requests of all guest pods: what they free can be lent only after it was advertised. */
  readonly guestPods: ResourceVector;
  /** Everything else that the broker's decision depends on, as text: reservations, labels, prices. */
  readonly otherInputs: string;
}

export type Change = "none" | "material" | "urgent";

/** The change since the last accepted advertisement; without one, the change is urgent. */
export function changeSince(last: PublishState | undefined, now: PublishState): Change {
  if (last === undefined) return "urgent";
  if (hasFallen(last.available, now.available)) return "urgent";
  const isMaterial =
    last.otherInputs !== now.otherInputs ||
    differs(last, now, (state) => state.allocatable) ||
    differs(last, now, (state) => state.allocated) ||
    differs(last, now, (state) => state.guestPods);
  return isMaterial ? "material" : "none";
}

function differs(
  last: PublishState,
  now: PublishState,
  of: (state: PublishState) => ResourceVector,
): boolean {
  const whole = larger(last.allocatable, now.allocatable);
  const [a, b] = [of(last), of(now)];
  return resourceNames(larger(a, b)).some((name) => {
    const change = Math.abs(amountOf(a, name) - amountOf(b, name));
    if (name === "gpu") return change > 0;
    return change > 0 && change >= MATERIAL_SHARE * amountOf(whole, name);
  });
}

function hasFallen(last: ResourceVector, now: ResourceVector): boolean {
  return resourceNames(last).some((name) => {
    const before = amountOf(last, name);
    return before - amountOf(now, name) > URGENT_SHARE * before;
  });
}

/**
 * Regular advertisements are sent at multiples of the interval on the wall clock, so that all clusters report
 * the same moment.
 */
export function untilTick(wallMs: number, intervalMs: number): number {
  return intervalMs - (wallMs % intervalMs);
}

export interface ScheduleTimes {
  /** Until the next regular advertisement. */
  readonly toTickMs: number;
  readonly sinceLastMs: number;
}

/** How long to wait before the next advertisement. */
export function delayBefore(change: Change, { toTickMs, sinceLastMs }: ScheduleTimes): number {
  if (change === "urgent") return 0;
  return change === "material" ? Math.min(toTickMs, Math.max(0, MIN_INTERVAL_MS - sinceLastMs)) : toTickMs;
}
