import { UNPRICED } from "../cost/price.ts";
import type { Appraiser } from "./appraise.ts";
import type { Candidate } from "./candidate.ts";
import type { Sieve } from "./deliberation.ts";
import { FILTERS, type Filter, type FilterName, type Question } from "./filters.ts";
import { type Glance, glanceOf, headroomAtAGlance, passesAtAGlance, priceAtAGlance } from "./glance.ts";
import { COLUMN, ROW_WIDTH, type RosterView } from "./roster.ts";
import { headroom, wantedOf } from "./scorers.ts";

/**
 * Asks every filter about every candidate. Most pass at a glance, on flat figures alone; whoever does not is asked
 * in full, and the order of the filters decides which reason counts.
 */
export function sift(roster: RosterView, question: Question, appraiser: Appraiser): Sieve {
  const filters = FILTERS.filter((filter) => filter.applies(question));
  const glance = glanceOf(roster, question, filters);
  const { candidates, figures } = roster;
  const fitting: number[] = [];
  const refusedBy: Partial<Record<FilterName, number>> = {};
  for (let position = 0; position < candidates.length; position++) {
    if (glance === undefined || !passesAtAGlance(figures, position * ROW_WIDTH, glance)) {
      const filter = firstRefusing(filters, candidates[position], question);
      if (filter !== undefined) {
        refusedBy[filter.name] = (refusedBy[filter.name] ?? 0) + 1;
        continue;
      }
    }
    fitting.push(position);
  }
  const headrooms =
    glance === undefined
      ? fullHeadrooms(roster, fitting, question)
      : glancedHeadrooms(roster, fitting, glance);
  return { filters, refusedBy, fitting, headrooms, prices: pricesOf(roster, fitting, appraiser) };
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

function glancedHeadrooms({ figures }: RosterView, fitting: readonly number[], glance: Glance): Float64Array {
  const headrooms = new Float64Array(fitting.length);
  for (let index = 0; index < headrooms.length; index++) {
    headrooms[index] = headroomAtAGlance(figures, (fitting[index] ?? 0) * ROW_WIDTH, glance);
  }
  return headrooms;
}

function fullHeadrooms(
  { candidates }: RosterView,
  fitting: readonly number[],
  question: Question,
): Float64Array {
  const wanted = wantedOf(question.request.resources);
  return Float64Array.from(fitting, (position) => {
    const candidate = candidates[position];
    return candidate === undefined
      ? 0
      : headroom(wanted, candidate.available, candidate.advertisement.allocatable);
  });
}

function pricesOf(roster: RosterView, fitting: readonly number[], appraiser: Appraiser): Float64Array {
  const { candidates, figures } = roster;
  const { plainCurrency, bill, priceOf } = appraiser;
  const plain = plainCurrency === undefined ? undefined : roster.numberOfCurrency(plainCurrency);
  const prices = new Float64Array(fitting.length);
  for (let index = 0; index < prices.length; index++) {
    const position = fitting[index] ?? 0;
    const row = position * ROW_WIDTH;
    const candidate = candidates[position];
    if (figures[row + COLUMN.currency] === plain) prices[index] = priceAtAGlance(figures, row, bill);
    else prices[index] = candidate === undefined ? UNPRICED : priceOf(candidate);
  }
  return prices;
}
