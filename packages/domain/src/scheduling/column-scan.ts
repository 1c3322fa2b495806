import { extendedNames, resourceNames } from "@resource-broker/base";
import { type PriceQuery, UNPRICED } from "../cost/price.ts";
import { type CandidateTableView, COLUMN, ROW_WIDTH } from "./candidate-table.ts";
import { capacity, type Filter, type SchedulingContext, self, stale } from "./filters.ts";

/** The request as comparisons on the table's columns. */
interface ColumnQuery {
  /** An advertisement received before this time is stale. */
  readonly oldest: number;
  readonly requesterRow: number;
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
  readonly gpus: number;
  /** Number of requested resources. */
  readonly count: number;
}

/** Input of a scan over the candidate table. */
export interface TableScan {
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
export const NO_CURRENCY = -2;

/** Filters that the column scan covers. The others apply only to some requests or to flagged candidates. */
const COLUMN_FILTERS: ReadonlySet<Filter> = new Set([self, stale, capacity]);

/** Undefined when every candidate must run all filters: the request has constraints, or resources without a column. */
export function columnQuery(
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
    cpu: resources.cpuMillis,
    memory: resources.memoryBytes,
    storage: resources.storageBytes,
    gpus: resources.gpus,
    count: resourceNames(resources).length,
  };
}

/**
 * Writes the positions of the candidates that fit to `fitting` and returns their number. Candidates that do not pass the
 * column checks are tested with `isRefused`.
 *
 * This loop and the two below compute inline: a function call that returns a fraction may allocate a heap number, ten
 * thousand times per decision.
 */
export function filterColumns(
  { table: { values, candidates }, fitting }: TableScan,
  { cpu, memory, storage, gpus, oldest, requesterRow }: ColumnQuery,
  isRefused: (position: number) => boolean,
): number {
  let count = 0;
  for (let position = 0; position < candidates.length; position++) {
    const row = position * ROW_WIDTH;
    const passes =
      at(values, row + COLUMN.availableCpu) >= cpu &&
      at(values, row + COLUMN.availableMemory) >= memory &&
      at(values, row + COLUMN.availableStorage) >= storage &&
      at(values, row + COLUMN.availableGpus) >= gpus &&
      at(values, row + COLUMN.receivedAt) >= oldest &&
      row !== requesterRow;
    if (passes || !isRefused(position)) fitting[count++] = position;
  }
  return count;
}

/** Same computation as `headroom` for each candidate that fits; both must give bit-identical results. */
export function headroomColumns(
  headrooms: Float64Array,
  { table: { values }, fitting }: TableScan,
  { cpu, memory, storage, gpus, count }: ColumnQuery,
): void {
  for (let index = 0; index < fitting.length; index++) {
    const row = (fitting[index] ?? 0) * ROW_WIDTH;
    let total = 0;
    if (cpu > 0)
      total += (at(values, row + COLUMN.availableCpu) - cpu) / at(values, row + COLUMN.allocatableCpu);
    if (memory > 0)
      total +=
        (at(values, row + COLUMN.availableMemory) - memory) / at(values, row + COLUMN.allocatableMemory);
    if (storage > 0)
      total +=
        (at(values, row + COLUMN.availableStorage) - storage) / at(values, row + COLUMN.allocatableStorage);
    if (gpus > 0)
      total += (at(values, row + COLUMN.availableGpus) - gpus) / at(values, row + COLUMN.allocatableGpus);
    headrooms[index] = total / count;
  }
}

/**
 * Same computation as `hourlyPrice`, for on-demand prices without windows in the policy's currency. Other candidates are
 * priced with `priceOf`.
 */
export function priceColumns(
  prices: Float64Array,
  { table: { values }, fitting }: TableScan,
  { priceQuery, currency, priceOf }: ColumnPricing,
): void {
  const { cpus, memoryGb, storageGb, gpus } = priceQuery;
  for (let index = 0; index < fitting.length; index++) {
    const row = (fitting[index] ?? 0) * ROW_WIDTH;
    if (at(values, row + COLUMN.currency) !== currency) {
      prices[index] = priceOf(fitting[index] ?? 0);
      continue;
    }
    const price =
      part(cpus, at(values, row + COLUMN.cpuHour)) +
      part(memoryGb, at(values, row + COLUMN.memoryGbHour)) +
      part(storageGb, at(values, row + COLUMN.storageGbHour)) +
      part(gpus, at(values, row + COLUMN.gpuHour));
    prices[index] = price >= 0 && price < Number.POSITIVE_INFINITY ? price : UNPRICED;
  }
}

function part(amount: number, unitPrice: number): number {
  return amount === 0 ? 0 : amount * unitPrice;
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}
