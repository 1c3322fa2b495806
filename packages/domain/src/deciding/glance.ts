import { type Bill, UNPRICED } from "../cost/price.ts";
import { extendedNames, resourceNames } from "../resources/resource-vector.ts";
import { capacity, type Filter, type Question, self, stale } from "./filters.ts";
import { COLUMN, ROW_WIDTH, type RosterView } from "./roster.ts";

/** The request as comparisons on the table's columns. */
interface Glance {
  /** An advertisement received before this is stale. */
  readonly oldest: number;
  readonly requesterRow: number;
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
  readonly gpus: number;
  /** How many resources are asked for. */
  readonly count: number;
}

/** Filters that the column scan covers. The others apply only to some requests or to flagged candidates. */
const ANSWERED: ReadonlySet<Filter> = new Set([self, stale, capacity]);

/** Undefined when every candidate must run all filters: the request has constraints, or resources without a column. */
export function glanceOf(
  roster: RosterView,
  question: Question,
  filters: readonly Filter[],
): Glance | undefined {
  const { request, now, policy, requester } = question;
  const { resources } = request;
  const needsCloserLook = filters.some((filter) => !ANSWERED.has(filter) && filter.looksAtMarks !== true);
  if (needsCloserLook || extendedNames(resources).length > 0) return undefined;
  return {
    oldest: now - policy.stalenessMs,
    requesterRow: roster.rowOf(requester) ?? -1,
    cpu: resources.cpuMillis,
    memory: resources.memoryBytes,
    storage: resources.storageBytes,
    gpus: resources.gpus,
    count: resourceNames(resources).length,
  };
}

/** Input of a scan over the candidate table. */
export interface Loop {
  readonly roster: RosterView;
  /** Positions in the roster of those that fit, or room for them. */
  readonly fitting: Int32Array;
}

/**
 * Writes the positions of the candidates that fit to `fitting` and returns their number. Candidates that do not pass the
 * column checks are tested with `isRefused`.
 *
 * This loop and the two below compute inline: a function call that returns a fraction may allocate a heap number, ten
 * thousand times per decision.
 */
export function fittingAtAGlance(
  { roster: { figures, candidates }, fitting }: Loop,
  { cpu, memory, storage, gpus, oldest, requesterRow }: Glance,
  isRefused: (position: number) => boolean,
): number {
  let count = 0;
  for (let position = 0; position < candidates.length; position++) {
    const row = position * ROW_WIDTH;
    const passes =
      at(figures, row + COLUMN.freeCpu) >= cpu &&
      at(figures, row + COLUMN.freeMemory) >= memory &&
      at(figures, row + COLUMN.freeStorage) >= storage &&
      at(figures, row + COLUMN.freeGpus) >= gpus &&
      at(figures, row + COLUMN.receivedAt) >= oldest &&
      row !== requesterRow;
    if (passes || !isRefused(position)) fitting[count++] = position;
  }
  return count;
}

/** Same computation as `headroom` for each candidate that fits; both must give bit-identical results. */
export function headroomsAtAGlance(
  headrooms: Float64Array,
  { roster: { figures }, fitting }: Loop,
  { cpu, memory, storage, gpus, count }: Glance,
): void {
  for (let index = 0; index < fitting.length; index++) {
    const row = (fitting[index] ?? 0) * ROW_WIDTH;
    let total = 0;
    if (cpu > 0) total += (at(figures, row + COLUMN.freeCpu) - cpu) / at(figures, row + COLUMN.allCpu);
    if (memory > 0)
      total += (at(figures, row + COLUMN.freeMemory) - memory) / at(figures, row + COLUMN.allMemory);
    if (storage > 0)
      total += (at(figures, row + COLUMN.freeStorage) - storage) / at(figures, row + COLUMN.allStorage);
    if (gpus > 0) total += (at(figures, row + COLUMN.freeGpus) - gpus) / at(figures, row + COLUMN.allGpus);
    headrooms[index] = total / count;
  }
}

/**
 * Same computation as `hourlyPrice`, for on-demand prices without windows in the policy's currency. Other candidates are
 * priced with `priceOf`.
 */
export function pricesAtAGlance(
  prices: Float64Array,
  { roster: { figures }, fitting }: Loop,
  { bill, currency, priceOf }: Pricing,
): void {
  const { cpus, memoryGb, storageGb, gpus } = bill;
  for (let index = 0; index < fitting.length; index++) {
    const row = (fitting[index] ?? 0) * ROW_WIDTH;
    if (at(figures, row + COLUMN.currency) !== currency) {
      prices[index] = priceOf(fitting[index] ?? 0);
      continue;
    }
    const price =
      part(cpus, at(figures, row + COLUMN.cpuHour)) +
      part(memoryGb, at(figures, row + COLUMN.memoryGbHour)) +
      part(storageGb, at(figures, row + COLUMN.storageGbHour)) +
      part(gpus, at(figures, row + COLUMN.gpuHour));
    prices[index] = price >= 0 && price < Number.POSITIVE_INFINITY ? price : UNPRICED;
  }
}

/** Number of a currency that no candidate uses. */
export const NO_CURRENCY = -2;

interface Pricing {
  readonly bill: Bill;
  readonly currency: number;
  readonly priceOf: (position: number) => number;
}

function part(amount: number, unitPrice: number): number {
  return amount === 0 ? 0 : amount * unitPrice;
}

function at(figures: Float64Array, index: number): number {
  return figures[index] ?? 0;
}
