import { lookup, type ResourceVector, resourceNames, sumOfRests, sumOfShares } from "@resource-broker/base";
import { UNPRICED } from "../cost/price.ts";

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
export interface CandidateStats {
  readonly lowestPrice?: number;
  readonly meanPrice?: number;
  /** Cost score given to a candidate without a price. */
  readonly medianCost?: number;
  /** Rating given to a candidate without one, by scorer; a scorer nobody is rated on is left out. */
  readonly medianRatings: Ratings;
}

/** Scorers that read the operator's ratings, with their weight. */
export type RatingScorers = readonly (readonly [name: string, weight: number])[];

/** The effective weights, after the weights of unused scorers are removed. */
export interface Weighting {
  readonly resources: number;
  readonly cost: number;
  readonly ratings: RatingScorers;
  readonly total: number;
}

export interface Scale {
  readonly stats: CandidateStats;
  readonly weighting: Weighting;
}

export type ScoreParts = Readonly<Record<string, number>>;

/** A request with values that scoring needs, computed once. */
export interface RequestSummary {
  readonly request: ResourceVector;
  readonly count: number;
}

/** Ratings by scorer, in the order of the candidates. */
export type RatingColumns = ReadonlyMap<string, readonly number[]>;

/** Headrooms, prices and ratings of the candidates, in the same order. */
export interface ScoreColumns {
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
  readonly ratings: RatingColumns;
}

/** Rating of a candidate without one. */
export const UNRATED = Number.NaN;

export function summarizeRequest(request: ResourceVector): RequestSummary {
  return { request, count: resourceNames(request).length };
}

/** Mean share of each requested resource that would stay free after the grant. */
export function headroom(
  requested: RequestSummary,
  available: ResourceVector,
  allocatable: ResourceVector,
): number {
  return sumOfRests(requested.request, available, allocatable) / requested.count;
}

/** Computes the weighted score of each candidate into `scores`. Used by the live path and by replay. */
export function computeScores(
  { headrooms, prices, ratings }: ScoreColumns,
  { stats, weighting }: Scale,
  scores: Float64Array,
): void {
  const columns = weighting.ratings.map(([name, weight]) => ({
    weight,
    ratings: ratings.get(name) ?? [],
    median: lookup(stats.medianRatings, name) ?? 0,
  }));
  const { resources, cost, total } = weighting;
  const { lowestPrice, medianCost = 0 } = stats;
  for (let position = 0; position < headrooms.length; position++) {
    const price = prices[position] ?? UNPRICED;
    let score = resources * (headrooms[position] ?? 0);
    if (cost > 0) score += cost * (Number.isNaN(price) ? medianCost : costRatio(lowestPrice ?? price, price));
    for (let column = 0; column < columns.length; column++)
      score += weightedRating(columns[column], position);
    scores[position] = score / total;
  }
}

export function computeScore(request: ResourceVector, inputs: ScoreInputs, scale: Scale): number {
  const free = headroom(summarizeRequest(request), inputs.available, inputs.allocatable);
  const ratings = new Map(Object.entries(inputs.ratings).map(([name, rating]) => [name, [rating]]));
  const prices = Float64Array.of(inputs.price ?? UNPRICED);
  const scores = new Float64Array(1);
  computeScores({ headrooms: Float64Array.of(free), prices, ratings }, scale, scores);
  return scores[0] ?? 0;
}

export function scoreParts(
  requested: RequestSummary,
  inputs: ScoreInputs,
  { stats, weighting }: Scale,
): ScoreParts {
  const { available, allocatable, price, ratings } = inputs;
  const parts: { resources?: number; cost?: number } = {};
  if (weighting.resources > 0) parts.resources = headroom(requested, available, allocatable);
  if (weighting.cost > 0) parts.cost = costScore(price ?? UNPRICED, stats);
  if (weighting.ratings.length === 0) return parts;
  const rated = weighting.ratings.map(([name]) => {
    const rating = ratingOrMedian(lookup(ratings, name), lookup(stats.medianRatings, name) ?? 0);
    return [name, rating] as const;
  });
  return { ...parts, ...Object.fromEntries(rated) };
}

/** Without any price, the weight of cost is added to resources; a scorer without ratings is dropped. */
export function weightingOf(weights: Readonly<Record<string, number>>, stats: CandidateStats): Weighting {
  const isPriced = stats.lowestPrice !== undefined;
  const costWeight = lookup(weights, "cost") ?? 0;
  const resources = (lookup(weights, "resources") ?? 0) + (isPriced ? 0 : costWeight);
  const cost = isPriced ? costWeight : 0;
  const ratings = ratingScorersOf(weights).filter(
    ([name]) => lookup(stats.medianRatings, name) !== undefined,
  );
  const total = ratings.reduce((sum, [, weight]) => sum + weight, resources + cost);
  // All weights are zero: score by headroom only, to avoid a division by zero.
  return total > 0 ? { resources, cost, ratings, total } : { resources: 1, cost: 0, ratings: [], total: 1 };
}

/** Scorers other than the built-in two that carry weight, in a fixed order. */
export function ratingScorersOf(weights: Readonly<Record<string, number>>): RatingScorers {
  return Object.entries(weights)
    .filter(([name, weight]) => name !== "resources" && name !== "cost" && weight > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Computes the statistics of all candidates that fit from their prices and ratings. */
export function candidateStats(prices: Float64Array, ratings: RatingColumns): CandidateStats {
  const medianRatings = medianRatingsOf(ratings);
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
  const stats = { lowestPrice, meanPrice: roundedOff(total / priced), medianRatings };
  return priced === prices.length ? stats : { ...stats, medianCost: medianCostOf(prices, lowestPrice) };
}

/** Mean reserved share of the requested resources; a lower share wins ties. */
export function reservedShare(
  requested: RequestSummary,
  { reserved, allocatable }: Pick<ScoreInputs, "reserved" | "allocatable">,
): number {
  return sumOfShares(requested.request, reserved, allocatable) / requested.count;
}

/** 1 for the cheapest, lower for higher prices; 0 for every priced cluster when one is free. */
function costScore(price: number, stats: CandidateStats): number {
  return Number.isNaN(price) ? (stats.medianCost ?? 0) : costRatio(stats.lowestPrice ?? price, price);
}

function costRatio(lowestPrice: number, price: number): number {
  return price === 0 ? 1 : lowestPrice / price;
}

interface RatingColumn {
  readonly weight: number;
  readonly ratings: readonly number[];
  readonly median: number;
}

function weightedRating(column: RatingColumn | undefined, position: number): number {
  return column === undefined ? 0 : column.weight * ratingOrMedian(column.ratings[position], column.median);
}

function ratingOrMedian(rating: number | undefined, median: number): number {
  return rating === undefined || Number.isNaN(rating) ? median : rating;
}

function medianCostOf(prices: Float64Array, lowestPrice: number): number {
  const priced = prices.filter((price) => !Number.isNaN(price));
  return median(priced.map((price) => costRatio(lowestPrice, price)));
}

function medianRatingsOf(ratings: RatingColumns): Ratings {
  const medians: [string, number][] = [];
  for (const [name, column] of ratings) {
    const given = column.filter((rating) => !Number.isNaN(rating));
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
