import { lookup } from "@resource-broker/base";
import { hourlyPrice, type PriceQuery, priceQueryFor, UNPRICED } from "../cost/price.ts";
import type { Candidate } from "./candidate-table.ts";
import type { SchedulingContext } from "./scheduling-context.ts";
import {
  type RatingScorers,
  type RequestSummary,
  ratingScorersOf,
  summarizeRequest,
  UNRATED,
} from "./scorers.ts";

/** Prices and ratings of candidates, prepared once per decision. */
export interface PreScoreState {
  readonly requested: RequestSummary;
  readonly priceQuery: PriceQuery;
  /** Candidates with plain prices in this currency are priced from the table's columns; undefined: none are. */
  readonly tableCurrency: string | undefined;
  /** For one hour, or UNPRICED. */
  readonly priceOf: (candidate: Candidate) => number;
  /** Scorers that read ratings and have weight. */
  readonly ratingScorers: RatingScorers;
  /** The operator's rating, or UNRATED. */
  readonly ratingOf: (name: string, candidate: Candidate) => number;
}

/** Computes once per decision what is the same for all candidates. */
export function preScore({ policy, request, now }: SchedulingContext): PreScoreState {
  const { prices, ratings } = policy;
  const priceQuery = priceQueryFor(request.resources, { tier: request.tier, at: now, prices });
  const hasOperatorPrices = Object.keys(prices.clusters).length > 0;
  const isPlain = request.tier === "on-demand" && !hasOperatorPrices && priceQuery.extended.length === 0;
  return {
    requested: summarizeRequest(request.resources),
    priceQuery,
    tableCurrency: isPlain ? prices.currency : undefined,
    priceOf: ({ clusterId, advertisement }) => {
      const operatorPrice = hasOperatorPrices ? lookup(prices.clusters, clusterId) : undefined;
      const model = operatorPrice ?? advertisement.cost;
      return model === undefined ? UNPRICED : hourlyPrice(priceQuery, model);
    },
    ratingScorers: ratingScorersOf(policy.weights),
    ratingOf: (name, { clusterId }) => lookup(lookup(ratings, name), clusterId) ?? UNRATED,
  };
}
