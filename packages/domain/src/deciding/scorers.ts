import { UNPRICED } from "../cost/price.ts";
import { lookup } from "../lookup.ts";
import { amountOf, extendedNames, type ResourceVector, resourceNames } from "../resources/resource-vector.ts";

/** The numbers one candidate is scored on. A decision record keeps them, so that the winner can be recomputed. */
export interface ScoreInputs {
  readonly available: ResourceVector;
  readonly allocatable: ResourceVector;
  readonly reserved: ResourceVector;
  /** For one hour, in the policy's currency; undefined: not priced. */
  readonly price: number | undefined;
  /** The operator's ratings of this cluster by scorer; absent: not rated. */
  readonly ratings: Ratings;
}

export type Ratings = Readonly<Record<string, number>>;

/** Statistics over all candidates that fit; used to normalize their scores. */
export interface Market {
  readonly lowestPrice?: number;
  readonly meanPrice?: number;
  /** Cost score given to a candidate without a price. */
  readonly medianCost?: number;
  /** Rating given to a candidate without one, by scorer; a scorer nobody is rated on is left out. */
  readonly medianRatings: Ratings;
}

/** Scorers that read the operator's ratings, with their weight. */
export type Raters = readonly (readonly [name: string, weight: number])[];

/** The effective weights, after the weights of unused scorers are removed. */
export interface Weighting {
  readonly resources: number;
  readonly cost: number;
  readonly ratings: Raters;
  readonly total: number;
}

export interface Scale {
  readonly market: Market;
  readonly weighting: Weighting;
}

export type ScoreParts = Readonly<Record<string, number>>;

/** A request with values that scoring needs, computed once. */
export interface Wanted {
  readonly request: ResourceVector;
  readonly extended: readonly string[];
  readonly count: number;
}

export function wantedOf(request: ResourceVector): Wanted {
  return { request, extended: extendedNames(request), count: resourceNames(request).length };
}

/** Mean share of each requested resource that would stay free after the grant. */
export function headroom(wanted: Wanted, available: ResourceVector, allocatable: ResourceVector): number {
  const { request } = wanted;
  let total = 0;
  if (request.cpuMillis > 0) total += (available.cpuMillis - request.cpuMillis) / allocatable.cpuMillis;
  if (request.memoryBytes > 0)
    total += (available.memoryBytes - request.memoryBytes) / allocatable.memoryBytes;
  if (request.storageBytes > 0)
    total += (available.storageBytes - request.storageBytes) / allocatable.storageBytes;
  if (request.gpus > 0) total += (available.gpus - request.gpus) / allocatable.gpus;
  if (wanted.extended.length > 0) total += extendedShares(wanted, available, allocatable);
  return total / wanted.count;
}

/** Rating of a candidate without one. */
export const UNRATED = Number.NaN;

/** Ratings by scorer, in the order of the candidates. */
export type Marks = ReadonlyMap<string, readonly number[]>;

/** Headrooms, prices and ratings of the candidates, in the same order. */
export interface Figures {
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
  readonly marks: Marks;
}

/** Computes the weighted score of each candidate into `scores`. Used by the live path and by replay. */
export function scoresOf(
  { headrooms, prices, marks }: Figures,
  { market, weighting }: Scale,
  scores: Float64Array,
): void {
  const columns = weighting.ratings.map(([name, weight]) => ({
    weight,
    marks: marks.get(name) ?? [],
    median: lookup(market.medianRatings, name) ?? 0,
  }));
  const { resources, cost, total } = weighting;
  const { lowestPrice, medianCost = 0 } = market;
  for (let position = 0; position < headrooms.length; position++) {
    const price = prices[position] ?? UNPRICED;
    let score = resources * (headrooms[position] ?? 0);
    if (cost > 0)
      score += cost * (Number.isNaN(price) ? medianCost : costAgainst(lowestPrice ?? price, price));
    for (let column = 0; column < columns.length; column++) score += ratedAt(columns[column], position);
    scores[position] = score / total;
  }
}

export function scoreOf(request: ResourceVector, inputs: ScoreInputs, scale: Scale): number {
  const free = headroom(wantedOf(request), inputs.available, inputs.allocatable);
  const marks = new Map(Object.entries(inputs.ratings).map(([name, mark]) => [name, [mark]]));
  const prices = Float64Array.of(inputs.price ?? UNPRICED);
  const scores = new Float64Array(1);
  scoresOf({ headrooms: Float64Array.of(free), prices, marks }, scale, scores);
  return scores[0] ?? 0;
}

export function scoreParts(wanted: Wanted, inputs: ScoreInputs, { market, weighting }: Scale): ScoreParts {
  const { available, allocatable, price, ratings } = inputs;
  const parts: { resources?: number; cost?: number } = {};
  if (weighting.resources > 0) parts.resources = headroom(wanted, available, allocatable);
  if (weighting.cost > 0) parts.cost = costScore(price ?? UNPRICED, market);
  if (weighting.ratings.length === 0) return parts;
  const rated = weighting.ratings.map(([name]) => {
    const mark = markScore(lookup(ratings, name), lookup(market.medianRatings, name) ?? 0);
    return [name, mark] as const;
  });
  return { ...parts, ...Object.fromEntries(rated) };
}

/** Without any price, the weight of cost is added to resources; a scorer without ratings is dropped. */
export function weightingOf(weights: Readonly<Record<string, number>>, market: Market): Weighting {
  const isPriced = market.lowestPrice !== undefined;
  const costWeight = lookup(weights, "cost") ?? 0;
  const resources = (lookup(weights, "resources") ?? 0) + (isPriced ? 0 : costWeight);
  const cost = isPriced ? costWeight : 0;
  const ratings = ratersOf(weights).filter(([name]) => lookup(market.medianRatings, name) !== undefined);
  const total = ratings.reduce((sum, [, weight]) => sum + weight, resources + cost);
  // All weights are zero: score by headroom only, to avoid a division by zero.
  return total > 0 ? { resources, cost, ratings, total } : { resources: 1, cost: 0, ratings: [], total: 1 };
}

/** Scorers other than the built-in two that carry weight, in a fixed order. */
export function ratersOf(weights: Readonly<Record<string, number>>): Raters {
  return Object.entries(weights)
    .filter(([name, weight]) => name !== "resources" && name !== "cost" && weight > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Computes the statistics of all candidates that fit from their prices and ratings. */
export function marketOf(prices: Float64Array, marks: Marks): Market {
  const medianRatings = medianRatingsOf(marks);
  let priced = 0;
  let lowestPrice = Number.POSITIVE_INFINITY;
  let total = 0;
  for (let position = 0; position < prices.length; position++) {
    const price = prices[position] ?? UNPRICED;
    if (Number.isNaN(price)) continue;
    priced++;
    total += price;
    if (price < lowestPrice) lowestPrice = price;
  }
  if (priced === 0) return { medianRatings };
  const market = { lowestPrice, meanPrice: roundedOff(total / priced), medianRatings };
  return priced === prices.length ? market : { ...market, medianCost: medianCostOf(prices, lowestPrice) };
}

/** Mean reserved share of the requested resources; a lower share wins ties. */
export function reservedShare(
  wanted: Wanted,
  { reserved, allocatable }: Pick<ScoreInputs, "reserved" | "allocatable">,
): number {
  const { request } = wanted;
  let total = 0;
  if (request.cpuMillis > 0) total += reserved.cpuMillis / allocatable.cpuMillis;
  if (request.memoryBytes > 0) total += reserved.memoryBytes / allocatable.memoryBytes;
  if (request.storageBytes > 0) total += reserved.storageBytes / allocatable.storageBytes;
  if (request.gpus > 0) total += reserved.gpus / allocatable.gpus;
  for (const name of wanted.extended) total += amountOf(reserved, name) / amountOf(allocatable, name);
  return total / wanted.count;
}

function extendedShares(wanted: Wanted, available: ResourceVector, allocatable: ResourceVector): number {
  let total = 0;
  for (const name of wanted.extended) {
    total += (amountOf(available, name) - amountOf(wanted.request, name)) / amountOf(allocatable, name);
  }
  return total;
}

/** 1 for the cheapest, lower for higher prices; 0 for every priced cluster when one is free. */
function costScore(price: number, market: Market): number {
  return Number.isNaN(price) ? (market.medianCost ?? 0) : costAgainst(market.lowestPrice ?? price, price);
}

function costAgainst(lowestPrice: number, price: number): number {
  return price === 0 ? 1 : lowestPrice / price;
}

interface RatedColumn {
  readonly weight: number;
  readonly marks: readonly number[];
  readonly median: number;
}

function ratedAt(column: RatedColumn | undefined, position: number): number {
  return column === undefined ? 0 : column.weight * markScore(column.marks[position], column.median);
}

function markScore(mark: number | undefined, median: number): number {
  return mark === undefined || Number.isNaN(mark) ? median : mark;
}

function medianCostOf(prices: Float64Array, lowestPrice: number): number {
  const priced = prices.filter((price) => !Number.isNaN(price));
  return median(priced.map((price) => costAgainst(lowestPrice, price)));
}

function medianRatingsOf(marks: Marks): Ratings {
  const medians: [string, number][] = [];
  for (const [name, column] of marks) {
    const given = column.filter((mark) => !Number.isNaN(mark));
    if (given.length > 0) medians.push([name, median(Float64Array.from(given))]);
  }
  return Object.fromEntries(medians);
}

/** Rounds, because the last digits of a mean depend on the order of addition and records must be deterministic. */
function roundedOff(value: number): number {
  return Number(value.toPrecision(12));
}

function median(values: Float64Array): number {
  const sorted = values.toSorted();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
