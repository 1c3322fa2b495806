import type { HistoryWindow, UiMoneyReport, UiSpend } from "@resource-broker/contract/dashboard";
import type { Instant, Policy, Reservation, ReservationCost, ReservationId } from "@resource-broker/domain";
import { lengthMs, WINDOWS } from "./history/slot-ring.ts";

const HOUR_MS = 3_600_000;

export interface MoneyFacts {
  readonly reservations: Iterable<Reservation>;
  /** Mean price for one hour of all clusters that fitted, in the currency of the reservation's cost; undefined: not known. */
  readonly meanPriceOf: (id: ReservationId) => number | undefined;
  readonly prices: Policy["prices"];
  readonly now: Instant;
}

interface Tally {
  spent: number;
  saved: number;
  reservations: number;
}

/** What live and ended reservations cost for the part of their time that lies in the window. */
export function moneyReport(window: HistoryWindow, facts: MoneyFacts): UiMoneyReport {
  const { prices, now } = facts;
  const from = now - lengthMs(WINDOWS[window]);
  const byRequester = new Map<string, Tally>();
  const byProvider = new Map<string, Tally>();
  const all = emptyTally();
  let unpriced = 0;
  for (const reservation of facts.reservations) {
    const hours = hoursWithin(reservation, from, now);
    if (hours === undefined) continue;
    const perHour = inPolicyCurrency(reservation.cost, prices);
    if (perHour === undefined) {
      unpriced++;
      continue;
    }
    const spent = perHour * hours;
    const saved = savedPerHour(reservation, facts) * hours;
    count(all, spent, saved);
    count(tallyOf(byRequester, reservation.requester), spent, saved);
    count(tallyOf(byProvider, reservation.provider), spent, saved);
  }
  return {
    window,
    currency: prices.currency,
    spent: all.spent,
    saved: all.saved,
    byRequester: largestFirst(byRequester),
    byProvider: largestFirst(byProvider),
    unpriced,
  };
}

/** Undefined if the reservation was not live in that time. */
function hoursWithin({ reservedAt, endedAt }: Reservation, from: Instant, now: Instant): number | undefined {
  const begin = Math.max(reservedAt, from);
  const end = Math.min(endedAt ?? now, now);
  return end < begin || (endedAt !== undefined && endedAt <= from) ? undefined : (end - begin) / HOUR_MS;
}

/** Negative if the chosen cluster is more expensive than the mean: other scores count, too. */
function savedPerHour({ id, cost }: Reservation, { meanPriceOf, prices }: MoneyFacts): number {
  const meanPrice = meanPriceOf(id);
  if (cost === undefined || meanPrice === undefined) return 0;
  return (meanPrice - cost.perHour) * (rateOf(cost.currency, prices) ?? 0);
}

function count(tally: Tally, spent: number, saved: number): void {
  tally.spent += spent;
  tally.saved += saved;
  tally.reservations++;
}

function tallyOf(tallies: Map<string, Tally>, id: string): Tally {
  const known = tallies.get(id);
  if (known !== undefined) return known;
  const tally = emptyTally();
  tallies.set(id, tally);
  return tally;
}

function emptyTally(): Tally {
  return { spent: 0, saved: 0, reservations: 0 };
}

function largestFirst(tallies: ReadonlyMap<string, Tally>): UiSpend[] {
  return Array.from(tallies, ([id, tally]) => ({ id, ...tally })).sort(
    (a, b) => b.spent - a.spent || (a.id < b.id ? -1 : 1),
  );
}

/** A price in the policy's currency; undefined where there is none, or no rate for its currency. */
export function inPolicyCurrency(
  cost: Pick<ReservationCost, "currency" | "perHour"> | undefined,
  prices: Policy["prices"],
): number | undefined {
  const rate = cost === undefined ? undefined : rateOf(cost.currency, prices);
  return cost === undefined || rate === undefined ? undefined : cost.perHour * rate;
}

/** Worth of one unit of a currency in the policy's. */
function rateOf(currency: string, prices: Policy["prices"]): number | undefined {
  if (currency === prices.currency) return 1;
  return Object.hasOwn(prices.rates, currency) ? prices.rates[currency] : undefined;
}
