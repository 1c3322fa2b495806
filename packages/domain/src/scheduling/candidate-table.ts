import type { ClusterId } from "../reservation/ids.ts";
import { type Candidate, isFlagged } from "./candidate.ts";

/** Offsets in a row. Amounts are in the ledger's units; prices are per unit and hour (NaN: not priced). */
export const COLUMN = {
  /** When its advertisement was received; NaN when the candidate is flagged and must run all filters. */
  receivedAt: 0,
  availableCpu: 1,
  availableMemory: 2,
  availableStorage: 3,
  availableGpus: 4,
  allocatableCpu: 5,
  allocatableMemory: 6,
  allocatableStorage: 7,
  allocatableGpus: 8,
  cpuHour: 9,
  memoryGbHour: 10,
  storageGbHour: 11,
  gpuHour: 12,
  /** Number of the currency; -1 when the price list has windows or there is none. */
  currency: 13,
} as const;

export const ROW_WIDTH = 16;
const INITIAL_ROWS = 16;
/** `receivedAt` of a flagged candidate: every comparison with NaN is false. */
const FLAGGED = Number.NaN;

/** Read-only view of a candidate table. */
export interface CandidateTableView {
  readonly candidates: readonly Candidate[];
  /** Row after row, `ROW_WIDTH` numbers each, in the order of `candidates`. */
  readonly values: Float64Array;
  /** Where a cluster's row begins. */
  readonly rowOf: (clusterId: ClusterId) => number | undefined;
  /** The number of a currency in the table; undefined when no candidate uses it. */
  readonly numberOfCurrency: (currency: string) => number | undefined;
}

/**
 * All candidates. The numbers that every decision reads are also in one flat array, so that a loop over ten thousand
 * candidates reads no objects. Call `refresh` after a candidate has changed.
 */
export class CandidateTable implements CandidateTableView {
  readonly candidates: Candidate[] = [];
  values = new Float64Array(INITIAL_ROWS * ROW_WIDTH);
  readonly #positions = new Map<ClusterId, number>();
  readonly #currencies = new Map<string, number>();

  /** Adds the candidate, or updates its row. */
  refresh(candidate: Candidate): void {
    let position = this.#positions.get(candidate.clusterId);
    if (position === undefined) {
      position = this.candidates.push(candidate) - 1;
      this.#positions.set(candidate.clusterId, position);
      this.#grow();
    }
    this.#writeRow(candidate, position * ROW_WIDTH);
  }

  rowOf(clusterId: ClusterId): number | undefined {
    const position = this.#positions.get(clusterId);
    return position === undefined ? undefined : position * ROW_WIDTH;
  }

  numberOfCurrency(currency: string): number | undefined {
    return this.#currencies.get(currency);
  }

  #addCurrency(currency: string): number {
    const number = this.#currencies.get(currency) ?? this.#currencies.size;
    this.#currencies.set(currency, number);
    return number;
  }

  #grow(): void {
    if (this.candidates.length * ROW_WIDTH <= this.values.length) return;
    const larger = new Float64Array(this.values.length * 2);
    larger.set(this.values);
    this.values = larger;
  }

  #writeRow(candidate: Candidate, row: number): void {
    const { values } = this;
    const { available, advertisement, receivedAt } = candidate;
    const { allocatable, cost } = advertisement;
    values[row + COLUMN.receivedAt] = isFlagged(candidate) ? FLAGGED : receivedAt;
    values[row + COLUMN.availableCpu] = available.cpuMillis;
    values[row + COLUMN.availableMemory] = available.memoryBytes;
    values[row + COLUMN.availableStorage] = available.storageBytes;
    values[row + COLUMN.availableGpus] = available.gpus;
    values[row + COLUMN.allocatableCpu] = allocatable.cpuMillis;
    values[row + COLUMN.allocatableMemory] = allocatable.memoryBytes;
    values[row + COLUMN.allocatableStorage] = allocatable.storageBytes;
    values[row + COLUMN.allocatableGpus] = allocatable.gpus;
    const prices = cost?.onDemand ?? {};
    values[row + COLUMN.cpuHour] = prices.cpuHour ?? Number.NaN;
    values[row + COLUMN.memoryGbHour] = prices.memoryGbHour ?? Number.NaN;
    values[row + COLUMN.storageGbHour] = prices.storageGbHour ?? Number.NaN;
    values[row + COLUMN.gpuHour] = prices.gpuHour ?? Number.NaN;
    const isPlain = cost !== undefined && cost.windows === undefined;
    values[row + COLUMN.currency] = isPlain ? this.#addCurrency(cost.currency) : -1;
  }
}
