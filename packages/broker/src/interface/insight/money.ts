import type { HistoryWindow, SpendingDTO } from "@resource-broker/contract";
import type {
  Instant,
  LedgerView,
  Policy,
  Reservation,
  ReservationCost,
  ReservationId,
} from "@resource-broker/domain";
import { lengthMs, WINDOWS } from "./history/series.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Committed } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";

const READ_AT_ONCE = 50;

/** Mean price of the clusters that fitted, by reservation. Taken from new decisions, and once from the store for older ones. */
export interface MeanPrices {
  readonly of: (id: ReservationId) => number | undefined;
  readonly add: (commit: Committed) => void;
  /** Reads decisions from before this process. All callers share one promise. */
  readonly complete: () => Promise<void>;
}

export function createMeanPrices(
  store: Pick<Store, "findDecision">,
  ledger: () => Pick<LedgerView, "reservations">,
): MeanPrices {
  const prices = new Map<ReservationId, number>();
  let completing: Promise<void> | undefined;

  const readOne = async ({ id, decisionId }: Reservation): Promise<void> => {
    const decision = decisionId === undefined ? undefined : await store.findDecision(decisionId);
    const price = decision?.market.meanPrice;
    if (price !== undefined) prices.set(id, price);
  };

  const readOlder = async (): Promise<void> => {
    const older = [...ledger().reservations.values()].filter(
      ({ id, cost }) => cost !== undefined && !prices.has(id),
    );
    for (let from = 0; from < older.length; from += READ_AT_ONCE) {
      await Promise.all(older.slice(from, from + READ_AT_ONCE).map(readOne));
      await nextTurn();
    }
  };

  return {
    of: (id) => prices.get(id),
    add: ({ events }) => {
      for (const event of events) {
        if (event.kind === "granted") {
          const { meanPrice } = event.decision.market;
          if (meanPrice !== undefined) prices.set(event.reservation.id, meanPrice);
        } else if (event.kind === "forgotten") prices.delete(event.id);
      }
    },
    complete: () =>
      (completing ??= readOlder().catch((error: unknown) => {
        // The next call tries again.
        completing = undefined;
        throw error;
      })),
  };
}

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
export function spendingOf(window: HistoryWindow, facts: MoneyFacts): SpendingDTO {
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

function largestFirst(tallies: ReadonlyMap<string, Tally>): SpendingDTO["byRequester"] {
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
