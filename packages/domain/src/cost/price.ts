import { amountForm, lookup, mapSlots, type ResourceVector, type SlotResource } from "@resource-broker/base";
import type { Instant } from "../reservation/ids.ts";
import type { PricePolicy } from "../scheduling/policy.ts";
import type { CostModel, PriceWindow, Tier, UnitPrices } from "./cost-model.ts";

const MS_PER_HOUR = 3_600_000;
const MS_PER_MINUTE = 60_000;
const MINUTES_PER_DAY = 1440;
/** 1 January 1970 was a Thursday. */
const FIRST_WEEKDAY = 4;

interface PricedPart {
  readonly priceSlot: SlotResource["priceSlot"];
  readonly amount: number;
}

/** The request in priced units, computed once for all candidates. */
export interface PriceQuery {
  /** In the order of `SLOTS`; typed, so that a loop over candidates reads plain numbers. */
  readonly slots: Float64Array;
  /** The slots that are requested at all. */
  readonly parts: readonly PricedPart[];
  readonly extended: readonly (readonly [name: string, amount: number])[];
  readonly tier: Tier;
  readonly at: Instant;
  readonly prices: PricePolicy;
}

export function priceQueryFor(
  resources: ResourceVector,
  context: { readonly tier: Tier; readonly at: Instant; readonly prices: PricePolicy },
): PriceQuery {
  const parts: PricedPart[] = [];
  const slots = mapSlots(({ slot, priceSlot, form }) => {
    const amount = resources[slot] / form.perPrice;
    if (amount !== 0) parts.push({ priceSlot, amount });
    return amount;
  });
  return {
    slots: new Float64Array(slots),
    parts,
    extended: Object.entries(resources.extended).map(([name, amount]) => [
      name,
      amount / amountForm(name).perPrice,
    ]),
    tier: context.tier,
    at: context.at,
    prices: context.prices,
  };
}

/** Price of a candidate without a price. A number, so that prices fit a Float64Array. */
export const UNPRICED = Number.NaN;

/**
 * The price for one hour in the policy's currency; UNPRICED when any part of the bill has no price or the
 * currency has no rate. A request is never called cheap because part of it was not priced.
 */
export function hourlyPrice(query: PriceQuery, model: CostModel): number {
  const base = total(query, query.tier === "spot" ? spotPrices(model) : model.onDemand);
  const multiplier = model.windows === undefined ? 1 : windowMultiplier(model.windows, query.at);
  const price = base * multiplier * conversionRate(model.currency, query.prices);
  // Infinite or negative: not a usable price.
  return price >= 0 && price < Number.POSITIVE_INFINITY ? price : UNPRICED;
}

/** Price × amount × duration. */
export function totalPrice(perHour: number, durationMs: number): number {
  return perHour * (durationMs / MS_PER_HOUR);
}

/** What the spot tier does not name costs the on-demand price. */
function spotPrices({ onDemand, spot }: CostModel): UnitPrices {
  return { ...onDemand, ...spot, extendedHour: { ...onDemand.extendedHour, ...spot?.extendedHour } };
}

function conversionRate(currency: string, prices: PricePolicy): number {
  if (currency === prices.currency) return 1;
  return lookup(prices.rates, currency) ?? UNPRICED;
}

/** UNPRICED is NaN, so it propagates through the sum. */
function total(query: PriceQuery, prices: UnitPrices): number {
  let sum = 0;
  for (const { priceSlot, amount } of query.parts) sum += amount * (prices[priceSlot] ?? UNPRICED);
  for (const [name, amount] of query.extended)
    sum += part(amount, lookup(prices.extendedHour, name) ?? UNPRICED);
  return sum;
}

export function part(amount: number, unitPrice: number): number {
  return amount === 0 ? 0 : amount * unitPrice;
}

function windowMultiplier(windows: readonly PriceWindow[], at: Instant): number {
  return windows.find((window) => isInside(window, at))?.multiplier ?? 1;
}

function isInside(window: PriceWindow, at: Instant): boolean {
  const minutes = Math.floor(at / MS_PER_MINUTE);
  const minute = minutes % MINUTES_PER_DAY;
  const weekday = (Math.floor(minutes / MINUTES_PER_DAY) + FIRST_WEEKDAY) % 7;
  if (window.fromMinute <= window.toMinute) {
    return isOnDay(window, weekday) && minute >= window.fromMinute && minute < window.toMinute;
  }
  // Spans midnight: the early hours belong to the day before.
  if (minute >= window.fromMinute) return isOnDay(window, weekday);
  return minute < window.toMinute && isOnDay(window, (weekday + 6) % 7);
}

function isOnDay(window: PriceWindow, weekday: number): boolean {
  return window.days === undefined || window.days.includes(weekday);
}
