import { UNPRICED } from "../cost/price.ts";
import type { Candidate } from "./candidate.ts";
import type { CandidateTableView } from "./candidate-table.ts";
import {
  columnQuery,
  filterColumns,
  headroomColumns,
  NO_CURRENCY,
  priceColumns,
  type TableScan,
} from "./column-scan.ts";
import { FILTERS, type Filter, type FilterName, type SchedulingContext } from "./filters.ts";
import type { PreScoreState } from "./pre-score.ts";
import { headroom, type RequestSummary } from "./scorers.ts";

/** The candidates that passed all filters. */
export interface FilterResult {
  readonly filters: readonly Filter[];
  readonly refusedBy: Readonly<Partial<Record<FilterName, number>>>;
  /** Positions in the table of the candidates that fit; `headrooms` and `prices` have the same order. */
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
}

/** Scratch memory for the candidates that fit. */
interface ScratchBuffers {
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
  readonly scores: Float64Array;
}

/**
 * Shared by all decisions and overwritten by the next one: allocating per decision would cost zeroing and garbage collection.
 * No reference to it may outlive the decision.
 */
// Pure, so that a program that does not decide (the agent) does not have them.
let buffers = /* @__PURE__ */ allocateBuffers(1024);

/** The buffers, large enough for this number of candidates. */
export function scratchBuffers(candidates: number): ScratchBuffers {
  if (candidates > buffers.fitting.length) buffers = allocateBuffers(2 * candidates);
  return buffers;
}

function allocateBuffers(size: number): ScratchBuffers {
  return {
    fitting: new Int32Array(size),
    headrooms: new Float64Array(size),
    prices: new Float64Array(size),
    scores: new Float64Array(size),
  };
}

/**
 * Applies all filters to all candidates. Most candidates pass on the table's columns alone; the others run every filter, and
 * the first filter that rejects gives the reason.
 */
export function filterCandidates(
  table: CandidateTableView,
  context: SchedulingContext,
  preScored: PreScoreState,
): FilterResult {
  const { candidates } = table;
  const filters = FILTERS.filter((filter) => filter.applies(context));
  const query = columnQuery(table, context, filters);
  const refusedBy: Partial<Record<FilterName, number>> = {};
  const isRefused = (position: number): boolean => {
    const filter = firstRejecting(filters, candidates[position], context);
    if (filter !== undefined) refusedBy[filter.name] = (refusedBy[filter.name] ?? 0) + 1;
    return filter !== undefined;
  };
  const buffers = scratchBuffers(candidates.length);
  const output = { table, fitting: buffers.fitting };
  const count = query === undefined ? filterAll(output, isRefused) : filterColumns(output, query, isRefused);
  const scan = { table, fitting: buffers.fitting.subarray(0, count) };
  const headrooms = buffers.headrooms.subarray(0, count);
  if (query === undefined) headroomsOf(headrooms, scan, preScored.requested);
  else headroomColumns(headrooms, scan, query);
  const prices = buffers.prices.subarray(0, count);
  const { priceQuery, tableCurrency } = preScored;
  const currency = tableCurrency === undefined ? undefined : table.numberOfCurrency(tableCurrency);
  const priceOf = (position: number): number => {
    const candidate = candidates[position];
    return candidate === undefined ? UNPRICED : preScored.priceOf(candidate);
  };
  priceColumns(prices, scan, { priceQuery, currency: currency ?? NO_CURRENCY, priceOf });
  return { filters, refusedBy, fitting: scan.fitting, headrooms, prices };
}

function firstRejecting(
  filters: readonly Filter[],
  candidate: Candidate | undefined,
  context: SchedulingContext,
): Filter | undefined {
  if (candidate === undefined) return undefined;
  for (const filter of filters) if (filter.rejects(candidate, context)) return filter;
  return undefined;
}

function filterAll({ table, fitting }: TableScan, isRefused: (position: number) => boolean): number {
  let count = 0;
  for (let position = 0; position < table.candidates.length; position++) {
    if (!isRefused(position)) fitting[count++] = position;
  }
  return count;
}

function headroomsOf(
  headrooms: Float64Array,
  { table, fitting }: TableScan,
  requested: RequestSummary,
): void {
  for (let index = 0; index < fitting.length; index++) {
    const candidate = table.candidates[fitting[index] ?? 0];
    if (candidate === undefined) continue;
    headrooms[index] = headroom(requested, candidate.available, candidate.advertisement.allocatable);
  }
}
