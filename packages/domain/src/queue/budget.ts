import type { Instant } from "../reservation/ids.ts";
import type { Candidate } from "../scheduling/candidate-table.ts";
import {
  type ChargesView,
  chargeFor,
  committedIn,
  dateOf,
  MICRO_UNITS,
  startOfDay,
  type UtcDay,
  utcDay,
} from "./charges.ts";

/** A day that a reservation would be charged on. */
interface ChargedDay {
  readonly day: UtcDay;
  /** How much of the day. */
  readonly durationMs: number;
  /** What is charged for the day already. */
  readonly committed: bigint;
}

/** What a tenant may spend on a day, and the days that count for one reservation. */
export interface Spending {
  readonly tenant: string;
  readonly perDay: number;
  readonly currency: string;
  readonly days: readonly ChargedDay[];
}

/** Of a request whose tenant has a budget. */
export interface Budget extends Spending {
  /** For one hour; NaN: no price. */
  readonly priceOf: (candidate: Candidate) => number;
}

/** A day on which a budget would be exceeded, and what would be charged for it. */
interface Excess extends ChargedDay {
  readonly charge: bigint;
}

/**
 * The days on which a reservation of this time may be the first to exceed a budget: its first two. No reservation begins
 * later than now, so that no day after them is charged more than the second, for this one as for the others.
 */
export function chargedDays(
  charges: ChargesView,
  { from, to, today }: { readonly from: Instant; readonly to: Instant; readonly today: UtcDay },
): ChargedDay[] {
  const first = utcDay(from);
  const days = [first, first + 1].map((day) => ({
    day,
    durationMs: Math.min(to, startOfDay(day + 1)) - Math.max(from, startOfDay(day)),
    committed: committedIn(charges, day, today),
  }));
  return days.filter(({ durationMs }) => durationMs > 0);
}

/** The first day on which a reservation of this price would exceed the budget. */
export function firstExcess({ days, perDay }: Spending, perHour: number): Excess | undefined {
  if (Number.isNaN(perHour)) return undefined;
  for (const each of days) {
    const charge = chargeFor(perHour, each.durationMs);
    if (each.committed + charge > perDay) return { ...each, charge };
  }
  return undefined;
}

/** "would cost 3.6 EUR on 2026-01-05, …": as the end of a sentence about a provider or a renewal. */
export function describeExcess(
  { tenant, perDay, currency }: Spending,
  { day, charge, committed }: Excess,
): string {
  const money = (amount: bigint | number): string => `${Number(amount) / MICRO_UNITS} ${currency}`;
  return (
    `would cost ${money(charge)} on ${dateOf(day)}; tenant ${tenant} has a budget of ${money(perDay)} a day (UTC), ` +
    `and ${money(committed)} are committed for that day`
  );
}
