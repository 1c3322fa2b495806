import { billFor, hourlyPrice, UNPRICED } from "../cost/price.ts";
import { lookup } from "../lookup.ts";
import type { Candidate } from "./candidate.ts";
import type { Question } from "./filters.ts";
import { type Ratings, ratersOf } from "./scorers.ts";

export const NO_RATINGS: Ratings = Object.freeze({});

/** Looks up what candidates ask and how they are rated. */
export interface Appraiser {
  /** For one hour, or UNPRICED. */
  readonly priceOf: (candidate: Candidate) => number;
  /** Undefined when no rating can matter: the live path then skips them all. */
  readonly ratingsOf: ((candidate: Candidate) => Ratings) | undefined;
}

/** Made once a decision, so that what is the same for all candidates is worked out once. */
export function appraiserFor({ policy, request, now }: Question): Appraiser {
  const bill = billFor(request.resources, { tier: request.tier, at: now, prices: policy.prices });
  const hasOperatorPrices = Object.keys(policy.prices.clusters).length > 0;
  const scales = ratersOf(policy.weights).map(([name]) => [name, lookup(policy.ratings, name)] as const);
  return {
    priceOf: ({ clusterId, advertisement }) => {
      const operatorPrice = hasOperatorPrices ? lookup(policy.prices.clusters, clusterId) : undefined;
      const model = operatorPrice ?? advertisement.cost;
      return model === undefined ? UNPRICED : hourlyPrice(bill, model);
    },
    ratingsOf: scales.length === 0 ? undefined : ({ clusterId }) => marksOf(clusterId, scales),
  };
}

function marksOf(clusterId: string, scales: readonly (readonly [string, Ratings | undefined])[]): Ratings {
  const marks: [string, number][] = [];
  for (const [name, scale] of scales) {
    const mark = lookup(scale, clusterId);
    if (mark !== undefined) marks.push([name, mark]);
  }
  return Object.fromEntries(marks);
}
