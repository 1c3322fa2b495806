import { type Bill, UNPRICED } from "../cost/price.ts";
import { extendedNames, resourceNames } from "../resources/resource-vector.ts";
import { capacity, type Filter, type Question, self, stale } from "./filters.ts";
import { COLUMN, type RosterView } from "./roster.ts";

/** A question in the terms of the roster's columns. */
export interface Glance {
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

/** The filters that a glance answers by itself; the others only matter to some questions or to marked candidates. */
const ANSWERED: ReadonlySet<Filter> = new Set([self, stale, capacity]);

/** Undefined when the question needs a closer look at every candidate: constraints, or resources without a column. */
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

/** True only if every filter would let the candidate pass. False means: ask them. */
export function passesAtAGlance(figures: Float64Array, row: number, glance: Glance): boolean {
  return (
    at(figures, row + COLUMN.freeCpu) >= glance.cpu &&
    at(figures, row + COLUMN.freeMemory) >= glance.memory &&
    at(figures, row + COLUMN.freeStorage) >= glance.storage &&
    at(figures, row + COLUMN.freeGpus) >= glance.gpus &&
    at(figures, row + COLUMN.receivedAt) >= glance.oldest &&
    at(figures, row + COLUMN.isMarked) === 0 &&
    row !== glance.requesterRow
  );
}

/** As `headroom`, term by term: the two must agree to the last bit. */
export function headroomAtAGlance(figures: Float64Array, row: number, glance: Glance): number {
  let total = 0;
  if (glance.cpu > 0)
    total += (at(figures, row + COLUMN.freeCpu) - glance.cpu) / at(figures, row + COLUMN.allCpu);
  if (glance.memory > 0) {
    total += (at(figures, row + COLUMN.freeMemory) - glance.memory) / at(figures, row + COLUMN.allMemory);
  }
  if (glance.storage > 0) {
    total += (at(figures, row + COLUMN.freeStorage) - glance.storage) / at(figures, row + COLUMN.allStorage);
  }
  if (glance.gpus > 0)
    total += (at(figures, row + COLUMN.freeGpus) - glance.gpus) / at(figures, row + COLUMN.allGpus);
  return total / glance.count;
}

/** As `hourlyPrice` for an on-demand price list without windows, in the policy's own currency. */
export function priceAtAGlance(figures: Float64Array, row: number, bill: Bill): number {
  const price =
    part(bill.cpus, at(figures, row + COLUMN.cpuHour)) +
    part(bill.memoryGb, at(figures, row + COLUMN.memoryGbHour)) +
    part(bill.storageGb, at(figures, row + COLUMN.storageGbHour)) +
    part(bill.gpus, at(figures, row + COLUMN.gpuHour));
  return price >= 0 && price < Number.POSITIVE_INFINITY ? price : UNPRICED;
}

function part(amount: number, unitPrice: number): number {
  return amount === 0 ? 0 : amount * unitPrice;
}

function at(figures: Float64Array, index: number): number {
  return figures[index] ?? 0;
}
