import { type Bill, billFor, hourlyPrice, UNPRICED } from "../cost/price.ts";
import { lookup } from "../lookup.ts";
import type { Candidate } from "./candidate.ts";
import type { Question } from "./filters.ts";
import { type Raters, ratersOf, UNRATED, type Wanted, wantedOf } from "./scorers.ts";

/** Prices and ratings of candidates, prepared once per decision. */
export interface Appraiser {
  readonly wanted: Wanted;
  readonly bill: Bill;
  /** Candidates with plain prices in this currency are priced from the table's columns; undefined: none are. */
  readonly plainCurrency: string | undefined;
  /** For one hour, or UNPRICED. */
  readonly priceOf: (candidate: Candidate) => number;
  /** Scorers that read ratings and have weight. */
  readonly raters: Raters;
  /** The operator's rating, or UNRATED. */
  readonly markOf: (name: string, candidate: Candidate) => number;
}

/** Computes once per decision what is the same for all candidates. */
export function appraiserFor({ policy, request, now }: Question): Appraiser {
  const { prices, ratings } = policy;
  const bill = billFor(request.resources, { tier: request.tier, at: now, prices });
  const hasOperatorPrices = Object.keys(prices.clusters).length > 0;
  const isPlain = request.tier === "on-demand" && !hasOperatorPrices && bill.extended.length === 0;
  return {
    wanted: wantedOf(request.resources),
    bill,
    plainCurrency: isPlain ? prices.currency : undefined,
    priceOf: ({ clusterId, advertisement }) => {
      const operatorPrice = hasOperatorPrices ? lookup(prices.clusters, clusterId) : undefined;
      const model = operatorPrice ?? advertisement.cost;
      return model === undefined ? UNPRICED : hourlyPrice(bill, model);
    },
    raters: ratersOf(policy.weights),
    markOf: (name, { clusterId }) => lookup(lookup(ratings, name), clusterId) ?? UNRATED,
  };
}
