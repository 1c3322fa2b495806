import { extendedNames, resourceNames, slotAmounts } from "@resource-broker/base";
import { part, type PriceQuery, UNPRICED } from "../cost/price.ts";
import { type Candidate, type CandidateTableView, COLUMN, ROW_WIDTH } from "./candidate-table.ts";
import { capacity, type Filter, type FilterName, FILTERS, self, stale } from "./filters.ts";
import type { SchedulingContext } from "./scheduling-context.ts";
import type { PreScoreState } from "./pre-score.ts";
import { headroom, type RequestSummary } from "./scorers.ts";

/** The request as comparisons on the table's columns. */
interface ColumnQuery {
  /** An advertisement received before this time is stale. */
  readonly oldest: number;
  readonly requesterRow: number;
  /** The requested amounts, in the order of `SLOTS`. */
  readonly slots: Float64Array;
  /** Number of requested resources. */
  readonly count: number;
}

/** Input of a scan over the candidate table. */
interface TableScan {
  readonly table: CandidateTableView;
  /** Positions in the table of the candidates that fit, or memory for them. */
  readonly fitting: Int32Array;
}

interface ColumnPricing {
  readonly priceQuery: PriceQuery;
  readonly currency: number;
  readonly priceOf: (position: number) => number;
}

/** Number of a currency that no candidate uses. */
const NO_CURRENCY = -2;

/** Filters that the column scan covers. The others apply only to some requests or to flagged candidates. */
const COLUMN_FILTERS: ReadonlySet<Filter> = new Set([self, stale, capacity]);

/** Undefined when every candidate must run all filters: the request has constraints, or resources without a column. */
function columnQuery(
  table: CandidateTableView,
  context: SchedulingContext,
  filters: readonly Filter[],
): ColumnQuery | undefined {
  const { request, now, policy, requester } = context;
  const { resources } = request;
  const needsFullFilter = filters.some(
    (filter) => !COLUMN_FILTERS.has(filter) && filter.rejectsOnlyFlagged !== true,
  );
  if (needsFullFilter || extendedNames(resources).length > 0) return undefined;
  return {
    oldest: now - policy.stalenessMs,
    requesterRow: table.rowOf(requester) ?? -1,
    slots: new Float64Array(slotAmounts(resources)),
    count: resourceNames(resources).length,
  };
}

/**
 * Writes the positions of the candidates that fit to `fitting` and returns their number. Candidates that do not pass the
 * column checks are tested with `isRefused`.
 *
 * This loop and the two below compute inline and name the four slots one by one: a function call that returns a fraction may
 * allocate a heap number, and an inner loop costs more than its body, ten thousand times per decision.
 */
function filterColumns(
  { table: { values, candidates }, fitting }: TableScan,
  { slots, oldest, requesterRow }: ColumnQuery,
  isRefused: (position: number) => boolean,
): number {
  const first = at(slots, 0);
  const second = at(slots, 1);
  const third = at(slots, 2);
  const fourth = at(slots, 3);
  let count = 0;
  for (let position = 0; position < candidates.length; position++) {
    const row = position * ROW_WIDTH;
    const passes =
      at(values, row + COLUMN.available) >= first &&
      at(values, row + (COLUMN.available + 1)) >= second &&
      at(values, row + (COLUMN.available + 2)) >= third &&
      at(values, row + (COLUMN.available + 3)) >= fourth &&
      at(values, row + COLUMN.receivedAt) >= oldest &&
      row !== requesterRow;
    if (passes || !isRefused(position)) fitting[count++] = position;
  }
  return count;
}

/** Same computation as `headroom` for each candidate that fits; both must give bit-identical results. */
function headroomColumns(
  headrooms: Float64Array,
  { table: { values }, fitting }: TableScan,
  { slots, count }: ColumnQuery,
): void {
  const first = at(slots, 0);
  const second = at(slots, 1);
  const third = at(slots, 2);
  const fourth = at(slots, 3);
  for (let index = 0; index < fitting.length; index++) {
    const row = (fitting[index] ?? 0) * ROW_WIDTH;
    let total = 0;
    if (first > 0)
      total += (at(values, row + COLUMN.available) - first) / at(values, row + COLUMN.allocatable);
    if (second > 0)
      total +=
        (at(values, row + (COLUMN.available + 1)) - second) / at(values, row + (COLUMN.allocatable + 1));
    if (third > 0)
      total +=
        (at(values, row + (COLUMN.available + 2)) - third) / at(values, row + (COLUMN.allocatable + 2));
    if (fourth > 0)
      total +=
        (at(values, row + (COLUMN.available + 3)) - fourth) / at(values, row + (COLUMN.allocatable + 3));
    headrooms[index] = total / count;
  }
}

/**
 * Same computation as `hourlyPrice`, for on-demand prices without windows in the policy's currency. Other candidates are
 * priced with `priceOf`.
 */
function priceColumns(
  prices: Float64Array,
  { table: { values }, fitting }: TableScan,
  { priceQuery, currency, priceOf }: ColumnPricing,
): void {
  const { slots } = priceQuery;
  const first = at(slots, 0);
  const second = at(slots, 1);
  const third = at(slots, 2);
  const fourth = at(slots, 3);
  for (let index = 0; index < fitting.length; index++) {
    const row = (fitting[index] ?? 0) * ROW_WIDTH;
    if (at(values, row + COLUMN.currency) !== currency) {
      prices[index] = priceOf(fitting[index] ?? 0);
      continue;
    }
    const price =
      part(first, at(values, row + COLUMN.price)) +
      part(second, at(values, row + (COLUMN.price + 1))) +
      part(third, at(values, row + (COLUMN.price + 2))) +
      part(fourth, at(values, row + (COLUMN.price + 3)));
    prices[index] = price >= 0 && price < Number.POSITIVE_INFINITY ? price : UNPRICED;
  }
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}

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

/** True when some candidate passes all filters. Only those with enough of each resource are looked at closely. */
export function fitsSomewhere(table: CandidateTableView, context: SchedulingContext): boolean {
  const { candidates, values } = table;
  const [first, second, third, fourth] = slotAmounts(context.request.resources);
  const filters = FILTERS.filter((filter) => filter.applies(context));
  for (let position = 0; position < candidates.length; position++) {
    const row = position * ROW_WIDTH + COLUMN.available;
    const isShort =
      at(values, row) < first ||
      at(values, row + 1) < second ||
      at(values, row + 2) < third ||
      at(values, row + 3) < fourth;
    if (!isShort && firstRejecting(filters, candidates[position], context) === undefined) return true;
  }
  return false;
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
