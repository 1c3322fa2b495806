import { lookup, type ResourceVector } from "@resource-broker/base";
import type { Instant } from "../reservation/ids.ts";
import type { PricePolicy } from "../scheduling/policy.ts";
import type { CostModel, PriceWindow, Tier, UnitPrices } from "./cost-model.ts";

const BYTES_PER_GB = 1e9;
const MILLIS_PER_CPU = 1000;
const MS_PER_HOUR = 3_600_000;
const MS_PER_MINUTE = 60_000;
const MINUTES_PER_DAY = 1440;
/** 1 January 1970 was a Thursday. */
const FIRST_WEEKDAY = 4;

/** The request in priced units, computed once for all candidates. */
export interface PriceQuery {
  readonly cpus: number;
  readonly memoryGb: number;
  readonly storageGb: number;
  readonly gpus: number;
  readonly extended: readonly (readonly [name: string, amount: number])[];
  readonly tier: Tier;
  readonly at: Instant;
  readonly prices: PricePolicy;
}

export function priceQueryFor(
  resources: ResourceVector,
  context: { readonly tier: Tier; readonly at: Instant; readonly prices: PricePolicy },
): PriceQuery {
  return {
    cpus: resources.cpuMillis / MILLIS_PER_CPU,
    memoryGb: resources.memoryBytes / BYTES_PER_GB,
    storageGb: resources.storageBytes / BYTES_PER_GB,
    gpus: resources.gpus,
    extended: Object.entries(resources.extended),
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
  let sum =
    part(query.cpus, prices.cpuHour) +
    part(query.memoryGb, prices.memoryGbHour) +
    part(query.storageGb, prices.storageGbHour) +
    part(query.gpus, prices.gpuHour);
  if (query.extended.length > 0) sum += extendedTotal(query, prices);
  return sum;
}

function extendedTotal(query: PriceQuery, prices: UnitPrices): number {
  let sum = 0;
  for (const [name, amount] of query.extended) sum += part(amount, lookup(prices.extendedHour, name));
  return sum;
}

function part(amount: number, unitPrice: number | undefined): number {
  return amount === 0 ? 0 : amount * (unitPrice ?? UNPRICED);
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
