import { DEFAULT_POLICY } from "@resource-broker/domain";
import { toMilliseconds } from "../mapping/reservation-request.ts";
import { closest } from "../schema/closest.ts";
import type { Problem } from "../schema/problem.ts";
import type { PolicyDTO } from "./policy-schema.ts";

const BUILT_IN_SCORERS = ["resources", "cost"];

/** Cross-field validation of a policy. */
export function crossFieldProblems(dto: PolicyDTO): Problem[] {
  return [...weightProblems(dto), ...ttlProblems(dto), ...priceProblems(dto)];
}

function weightProblems({ weights, ratings = {} }: PolicyDTO): Problem[] {
  if (weights === undefined) return [];
  const given = Object.entries(weights).filter(([, weight]) => weight > 0);
  if (given.length === 0) return [{ path: "weights", message: "at least one weight must be more than 0" }];
  const scorers = [...BUILT_IN_SCORERS, ...Object.keys(ratings)];
  return given.filter(([name]) => !scorers.includes(name)).map(([name]) => unknownScorer(name, scorers));
}

/** A weight without ratings would silently have no effect. */
function unknownScorer(name: string, scorers: readonly string[]): Problem {
  const meant = closest(name, scorers);
  const advice = meant === undefined ? `add ratings.${name}` : `did you mean ${JSON.stringify(meant)}?`;
  return { path: `weights.${name}`, message: `has a weight but no ratings; ${advice}` };
}

function ttlProblems({ defaultTTL, maxTTL }: PolicyDTO): Problem[] {
  if (defaultTTL === undefined || maxTTL === undefined) return [];
  if (toMilliseconds(defaultTTL) <= toMilliseconds(maxTTL)) return [];
  return [{ path: "defaultTTL", message: `must not be longer than maxTTL (${maxTTL})` }];
}

function priceProblems({ prices = {} }: PolicyDTO): Problem[] {
  const { currency: base = DEFAULT_POLICY.prices.currency, rates = {}, clusters = {} } = prices;
  return Object.entries(clusters)
    .filter(([, { currency }]) => currency !== base && !Object.hasOwn(rates, currency))
    .map(([clusterId, { currency }]) => ({
      path: `prices.clusters.${clusterId}.currency`,
      message: `${currency} has no rate; write prices.rates.${currency}, its worth in ${base}`,
    }));
}
