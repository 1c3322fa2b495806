import { UNPRICED } from "../cost/price.ts";
import type { Appraiser } from "./appraise.ts";
import type { Candidate } from "./candidate.ts";
import type { Sieve } from "./deliberation.ts";
import { FILTERS, type Filter, type FilterName, type Question } from "./filters.ts";
import {
  fittingAtAGlance,
  glanceOf,
  headroomsAtAGlance,
  type Loop,
  NO_CURRENCY,
  pricesAtAGlance,
} from "./glance.ts";
import type { RosterView } from "./roster.ts";
import { headroom, type Wanted } from "./scorers.ts";
import { slateFor } from "./slate.ts";

/**
 * Applies all filters to all candidates. Most candidates pass on the table's columns alone; the others run every filter, and
 * the first filter that rejects gives the reason.
 */
export function sift(roster: RosterView, question: Question, appraiser: Appraiser): Sieve {
  const { candidates } = roster;
  const filters = FILTERS.filter((filter) => filter.applies(question));
  const glance = glanceOf(roster, question, filters);
  const refusedBy: Partial<Record<FilterName, number>> = {};
  const isRefused = (position: number): boolean => {
    const filter = firstRefusing(filters, candidates[position], question);
    if (filter !== undefined) refusedBy[filter.name] = (refusedBy[filter.name] ?? 0) + 1;
    return filter !== undefined;
  };
  const slate = slateFor(candidates.length);
  const room = { roster, fitting: slate.fitting };
  const count = glance === undefined ? fittingOf(room, isRefused) : fittingAtAGlance(room, glance, isRefused);
  const loop = { roster, fitting: slate.fitting.subarray(0, count) };
  const headrooms = slate.headrooms.subarray(0, count);
  if (glance === undefined) headroomsOf(headrooms, loop, appraiser.wanted);
  else headroomsAtAGlance(headrooms, loop, glance);
  const prices = slate.prices.subarray(0, count);
  const { bill, plainCurrency } = appraiser;
  const plain = plainCurrency === undefined ? undefined : roster.numberOfCurrency(plainCurrency);
  const priceOf = (position: number): number => {
    const candidate = candidates[position];
    return candidate === undefined ? UNPRICED : appraiser.priceOf(candidate);
  };
  pricesAtAGlance(prices, loop, { bill, currency: plain ?? NO_CURRENCY, priceOf });
  return { filters, refusedBy, fitting: loop.fitting, headrooms, prices };
}

function firstRefusing(
  filters: readonly Filter[],
  candidate: Candidate | undefined,
  question: Question,
): Filter | undefined {
  if (candidate === undefined) return undefined;
  for (const filter of filters) if (filter.rejects(candidate, question)) return filter;
  return undefined;
}

function fittingOf({ roster, fitting }: Loop, isRefused: (position: number) => boolean): number {
  let count = 0;
  for (let position = 0; position < roster.candidates.length; position++) {
    if (!isRefused(position)) fitting[count++] = position;
  }
  return count;
}

function headroomsOf(headrooms: Float64Array, { roster, fitting }: Loop, wanted: Wanted): void {
  for (let index = 0; index < fitting.length; index++) {
    const candidate = roster.candidates[fitting[index] ?? 0];
    if (candidate === undefined) continue;
    headrooms[index] = headroom(wanted, candidate.available, candidate.advertisement.allocatable);
  }
}
