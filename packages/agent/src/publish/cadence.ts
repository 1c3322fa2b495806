import { amountOf, larger, type ResourceVector, resourceNames } from "@resource-broker/domain";

/** Changes are told at most this often, unless the broker could lend what is no longer there. */
export const MIN_PAUSE_MS = 5000;
/** Below this share of what there is, a change waits for the next regular advertisement. */
const MATERIAL_SHARE = 0.01;
/** What is available falls by more than this share: told at once. */
const URGENT_SHARE = 0.1;

/** The figures of an advertisement that decide when the next one is due. */
export interface Figures {
  readonly allocatable: ResourceVector;
  readonly allocated: ResourceVector;
  readonly available: ResourceVector;
  /** Requests of all pods that run for others: what ended with them is lent again when it is told. */
  readonly guests: ResourceVector;
  /** Everything else that the broker decides by, as text: holds, labels, prices. */
  readonly offer: string;
}

export type Change = "none" | "material" | "urgent";

/** How much has changed since the last advertisement that the broker accepted; nothing accepted yet is urgent. */
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
 * Regular advertisements fall on multiples of the interval by the wall clock, so that all clusters speak of the same
 * moment and a person knows when to look.
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
