import { UNPRICED } from "../cost/price.ts";
import type { ClusterId, DecisionId } from "../reservation/ids.ts";
import { appraiserFor } from "./appraise.ts";
import { type Candidate, isMarked } from "./candidate.ts";
import type { Decision } from "./decision.ts";
import type { Sieve } from "./deliberation.ts";
import { capacity, FILTERS, type Filter, type FilterName, type Question, self, stale } from "./filters.ts";
import { firstOf } from "./rank.ts";
import { recordDecision } from "./record-decision.ts";
import { headroom, marketOf, scoresOf, wantedOf, weightingOf } from "./scorers.ts";

/** The outcome of one decision; `record` renders it for keeping and must be called before the ledger changes. */
export interface Choice {
  readonly winner: ClusterId | undefined;
  /** What the winner asks for one hour; undefined where it has no price. */
  readonly price: number | undefined;
  readonly record: (id: DecisionId) => Decision;
}

/** filter → score → select. Same candidates and question, same winner, whatever the order they come in. */
export function chooseProvider(candidates: readonly Candidate[], question: Question): Choice {
  const sieve = sift(candidates, question);
  const { fitting, headrooms, prices } = sieve;
  const { ratingsOf } = appraiserFor(question);
  const ratings = ratingsOf === undefined ? [] : fitting.map(ratingsOf);
  const market = marketOf(prices, ratings);
  const scale = { market, weighting: weightingOf(question.policy.weights, market) };
  const scores = scoresOf({ headrooms, prices, ratings }, scale);
  const [first = -1] = firstOf({ fitting, scores, request: question.request.resources }, 1);
  const price = prices[first] ?? UNPRICED;
  return {
    winner: fitting[first]?.clusterId,
    price: Number.isNaN(price) ? undefined : price,
    record: (id) => recordDecision(id, { ...sieve, question, candidates, scale, scores }),
  };
}

/** One pass over the candidates: everything that must be read from them is read while they are at hand. */
function sift(candidates: readonly Candidate[], question: Question): Sieve {
  const filters = FILTERS.filter((filter) => filter.applies(question));
  const { priceOf } = appraiserFor(question);
  const wanted = wantedOf(question.request.resources);
  const fitting: Candidate[] = [];
  const headrooms: number[] = [];
  const prices: number[] = [];
  const refusedBy: Partial<Record<FilterName, number>> = {};
  const rareFilters = filters.filter((filter) => !EVERYDAY.has(filter));
  const unmarkedFilters = rareFilters.filter((filter) => filter.looksAtMarks !== true);
  for (const candidate of candidates) {
    const rare = isMarked(candidate) ? rareFilters : unmarkedFilters;
    if (!passes(candidate, question, rare)) {
      const filter = firstRefusing(filters, candidate, question);
      if (filter !== undefined) refusedBy[filter.name] = (refusedBy[filter.name] ?? 0) + 1;
      continue;
    }
    fitting.push(candidate);
    headrooms.push(headroom(wanted, candidate.available, candidate.advertisement.allocatable));
    prices.push(priceOf(candidate));
  }
  return { filters, refusedBy, fitting, headrooms, prices };
}

const EVERYDAY: ReadonlySet<Filter> = new Set([self, stale, capacity]);

/** The three filters of every decision are called by name: the JIT then inlines them, which halves a decision. */
function passes(candidate: Candidate, question: Question, rareFilters: readonly Filter[]): boolean {
  if (self.rejects(candidate, question)) return false;
  if (stale.rejects(candidate, question)) return false;
  if (capacity.rejects(candidate, question)) return false;
  return rareFilters.length === 0 || firstRefusing(rareFilters, candidate, question) === undefined;
}

function firstRefusing(
  filters: readonly Filter[],
  candidate: Candidate,
  question: Question,
): Filter | undefined {
  for (const filter of filters) if (filter.rejects(candidate, question)) return filter;
  return undefined;
}
