import type { LedgerEvent } from "../ledger/event.ts";
import type { Ledger, LedgerView } from "../ledger/ledger.ts";
import type { Instant } from "../reservation/ids.ts";
import { CLOSED_DAYS_KEPT, type ClosedDay, committedIn, NO_CHARGES, type UtcDay, utcDay } from "./charges.ts";

type DayClosed = Extract<LedgerEvent, { readonly kind: "day-closed" }>;

/**
 * Writes down what was charged on each day that is over. An ended reservation is remembered for a day, so that all that ran on
 * a day are still there at its end: whoever forgets reservations must close the days that are over first.
 */
export function closeDaysThatAreOver(ledger: LedgerView, now: Instant): DayClosed[] {
  if (ledger.charges.size === 0) return [];
  const today = utcDay(now);
  const oldest = today - CLOSED_DAYS_KEPT;
  let first = Math.max(lastClosedDay(ledger) + 1, oldest);
  if (first < today) first = Math.max(first, firstChargedDay(ledger));
  const events: DayClosed[] = [];
  for (let day = first; day < today; day++) {
    const forgets = day === first ? [...ledger.closedDays.keys()].filter((each) => each < oldest) : [];
    events.push({ kind: "day-closed", at: now, closedDay: closedDay(ledger, day, today), forgets });
  }
  return events;
}

function lastClosedDay({ closedDays }: LedgerView): UtcDay {
  let last = Number.NEGATIVE_INFINITY;
  for (const day of closedDays.keys()) last = Math.max(last, day);
  return last;
}

function firstChargedDay({ charges }: LedgerView): UtcDay {
  let first = Number.POSITIVE_INFINITY;
  for (const { parts } of charges.values()) for (const day of parts.keys()) first = Math.min(first, day);
  return first;
}

function closedDay(ledger: LedgerView, day: UtcDay, today: UtcDay): ClosedDay {
  const committed: (readonly [string, number])[] = [];
  for (const [tenant, charges] of ledger.charges) {
    const amount = committedIn(charges, day, today);
    if (amount > 0n) committed.push([tenant, Number(amount)]);
  }
  return { day, committed: committed.sort(([a], [b]) => (a < b ? -1 : 1)) };
}

export function closeDay(ledger: Ledger, { closedDay, forgets }: DayClosed): void {
  for (const day of forgets) ledger.closedDays.delete(day);
  ledger.closedDays.set(closedDay.day, closedDay);
}

/** What a tenant was charged for one of the last days or today, or is charged for a later day already; in micro-units. */
export function committedOn(
  ledger: Pick<LedgerView, "charges" | "closedDays">,
  tenant: string,
  { day, now }: { readonly day: UtcDay; readonly now: Instant },
): number {
  const closed = ledger.closedDays.get(day);
  if (closed !== undefined) return closed.committed.find(([name]) => name === tenant)?.[1] ?? 0;
  return Number(committedIn(ledger.charges.get(tenant) ?? NO_CHARGES, day, utcDay(now)));
}
