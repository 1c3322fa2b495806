import { amountOf, larger, type ResourceVector, resourceNames } from "@resource-broker/domain";

/** The shortest time between two advertisements, unless available resources have shrunk. */
export const MIN_PAUSE_MS = 5000;
/** Changes below this share wait for the next regular advertisement. */
const MATERIAL_SHARE = 0.01;
/** When available resources fall by more than this share, the change is published at once. */
const URGENT_SHARE = 0.1;

/** The state that decides when the next advertisement is due. */
export interface Figures {
  readonly allocatable: ResourceVector;
  readonly allocated: ResourceVector;
  readonly available: ResourceVector;
  /** Requests of all guest pods: what they free can be lent only after it was advertised. */
  readonly guests: ResourceVector;
  /** Everything else that the broker's decision depends on, as text: reservations, labels, prices. */
  readonly offer: string;
}

export type Change = "none" | "material" | "urgent";

/** The change since the last accepted advertisement; without one, the change is urgent. */
export function changeSince(last: Figures | undefined, now: Figures): Change {
  if (last === undefined) return "urgent";
  if (hasFallen(last.available, now.available)) return "urgent";
  const isMaterial =
    last.offer !== now.offer ||
    differs(last, now, (figures) => figures.allocatable) ||
    differs(last, now, (figures) => figures.allocated) ||
    differs(last, now, (figures) => figures.guests);
  return isMaterial ? "material" : "none";
}

function differs(last: Figures, now: Figures, of: (figures: Figures) => ResourceVector): boolean {
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

export interface Moment {
  /** Until the next regular advertisement. */
  readonly toTickMs: number;
  readonly sinceLastMs: number;
}

/** How long to wait before the next advertisement. */
export function pauseBefore(change: Change, { toTickMs, sinceLastMs }: Moment): number {
  if (change === "urgent") return 0;
  return change === "material" ? Math.min(toTickMs, Math.max(0, MIN_PAUSE_MS - sinceLastMs)) : toTickMs;
}
