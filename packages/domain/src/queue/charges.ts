import type { Instant } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";

/** Number of a UTC day; 0 is 1 January 1970. */
export type UtcDay = number;

/** What was charged on a day that is over: written once, before its reservations are forgotten. */
export interface ClosedDay {
  readonly day: UtcDay;
  /** In micro-units, by tenant; tenants without a charge are left out. */
  readonly committed: readonly (readonly [tenant: string, amount: number])[];
}

/** How many days that are over are remembered. */
export const CLOSED_DAYS_KEPT = 40;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** In one unit of the currency. */
export const MICRO_UNITS = 1_000_000;
/** So much of an amount may come from the rounding of fractions. */
const ROUNDING_ERROR = 1e-12;

export function utcDay(at: Instant): UtcDay {
  return Math.floor(at / DAY_MS);
}

export function startOfDay(day: UtcDay): Instant {
  return day * DAY_MS;
}

/** For example 2026-01-05. Reservations may last longer than dates go. */
export function dateOf(day: UtcDay): string {
  const date = new Date(startOfDay(day));
  return Number.isNaN(date.getTime()) ? `day ${day}` : date.toISOString().slice(0, 10);
}

/** In micro-units, rounded up. A bigint: sums are exact whatever a cluster asks for its capacity. */
export function chargeFor(perHour: number, durationMs: number): bigint {
  const exact = perHour * (Math.max(0, durationMs) / HOUR_MS) * MICRO_UNITS;
  return BigInt(Math.min(Math.ceil(exact * (1 - ROUNDING_ERROR)), Number.MAX_SAFE_INTEGER));
}

/**
 * What the reservations of one tenant cost, by UTC day. Each is rounded up by itself, so that the sums do not depend on their
 * order. A reservation changes a few entries, however long it lasts.
 */
export interface Charges {
  /** First and last days, which are charged in part. */
  readonly parts: Map<UtcDay, bigint>;
  /** On which days the sum of what is charged for whole days changes, and by how much. */
  readonly steps: Map<UtcDay, bigint>;
  /** The same of reservations without an end: they are charged to the next midnight only. */
  readonly openSteps: Map<UtcDay, bigint>;
}

export type ChargesView = { readonly [K in keyof Charges]: ReadonlyMap<UtcDay, bigint> };

export const NO_CHARGES: ChargesView = /* @__PURE__ */ Object.freeze(newCharges());

export function newCharges(): Charges {
  return { parts: new Map(), steps: new Map(), openSteps: new Map() };
}

export function cloneCharges({ parts, steps, openSteps }: ChargesView): Charges {
  return { parts: new Map(parts), steps: new Map(steps), openSteps: new Map(openSteps) };
}

export function hasCharges({ parts, steps, openSteps }: ChargesView): boolean {
  return parts.size + steps.size + openSteps.size > 0;
}

/** Adds what a reservation costs, or takes it out. An unpriced one costs nothing. */
export function countCharges(charges: Charges, reservation: Reservation, count: 1 | -1): void {
  const { cost, reservedAt: from } = reservation;
  if (cost === undefined) return;
  const charge = (durationMs: number): bigint => BigInt(count) * chargeFor(cost.perHour, durationMs);
  const to = chargedUntil(reservation);
  const [first, last] = [utcDay(from), to === undefined ? undefined : utcDay(to)];
  if (to !== undefined && first === last) return addTo(charges.parts, first, charge(to - from));
  const wholeDay = charge(DAY_MS);
  addTo(charges.parts, first, charge(startOfDay(first + 1) - from));
  if (to === undefined || last === undefined) return addTo(charges.openSteps, first + 1, wholeDay);
  addTo(charges.steps, first + 1, wholeDay);
  addTo(charges.steps, last, -wholeDay);
  addTo(charges.parts, last, charge(to - startOfDay(last)));
}

/** Undefined: its end is not known yet. What is left after an early end is given back. */
function chargedUntil({ expiresAt, endedAt }: Reservation): Instant | undefined {
  if (endedAt === undefined || expiresAt === undefined) return endedAt ?? expiresAt;
  return Math.min(endedAt, expiresAt);
}

/** Entries that come to nothing are removed, so that equal charges have equal entries. */
function addTo(amounts: Map<UtcDay, bigint>, day: UtcDay, amount: bigint): void {
  const sum = (amounts.get(day) ?? 0n) + amount;
  if (sum === 0n) amounts.delete(day);
  else amounts.set(day, sum);
}

/** What is charged for a day, from today on as far as it is known today. */
export function committedIn({ parts, steps, openSteps }: ChargesView, day: UtcDay, today: UtcDay): bigint {
  const open = day > today ? 0n : sumUpTo(openSteps, day);
  return (parts.get(day) ?? 0n) + sumUpTo(steps, day) + open;
}

function sumUpTo(steps: ReadonlyMap<UtcDay, bigint>, day: UtcDay): bigint {
  let sum = 0n;
  for (const [from, step] of steps) if (from <= day) sum += step;
  return sum;
}
