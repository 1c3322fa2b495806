import { type ResourceVector, resourceVector } from "../resources/resource-vector.ts";

/**
 * A sum of vectors that stays exact over any number of additions and removals. A large cluster's total may pass
 * 2⁵³, where a plain Number drops units and a removal would no longer undo an addition; so each amount is kept as a
 * low and a high part, and only what is read out is limited to a safe integer.
 */
export interface RunningTotal {
  readonly cpuMillis: Parts;
  readonly memoryBytes: Parts;
  readonly storageBytes: Parts;
  readonly gpus: Parts;
  /** Made when first needed: most of a large cluster's totals never need it. */
  extended: Map<string, Parts> | undefined;
}

interface Parts {
  low: number;
  high: number;
}

const LOW_PART = 2 ** 27;

export function runningTotal(): RunningTotal {
  return {
    cpuMillis: noParts(),
    memoryBytes: noParts(),
    storageBytes: noParts(),
    gpus: noParts(),
    extended: undefined,
  };
}

/** Adds the vector `times` times; a negative number takes it away again. Its amounts must not be negative. */
export function addTimes(total: RunningTotal, vector: ResourceVector, times: number): void {
  addAmount(total.cpuMillis, vector.cpuMillis, times);
  addAmount(total.memoryBytes, vector.memoryBytes, times);
  addAmount(total.storageBytes, vector.storageBytes, times);
  addAmount(total.gpus, vector.gpus, times);
  for (const name in vector.extended)
    addAmount(extendedParts(total, name), vector.extended[name] ?? 0, times);
}

/** Adds another total, or takes it away with `times` −1. */
export function addTotal(total: RunningTotal, other: RunningTotal, times: 1 | -1): void {
  addParts(total.cpuMillis, other.cpuMillis, times);
  addParts(total.memoryBytes, other.memoryBytes, times);
  addParts(total.storageBytes, other.storageBytes, times);
  addParts(total.gpus, other.gpus, times);
  for (const [name, parts] of other.extended ?? []) addParts(extendedParts(total, name), parts, times);
}

/**
 * Amounts above the largest safe integer read as that. Reading both what there is and what is taken that way can
 * only make what is left look smaller.
 */
export function readTotal(total: RunningTotal): ResourceVector {
  return resourceVector({
    cpuMillis: readParts(total.cpuMillis),
    memoryBytes: readParts(total.memoryBytes),
    storageBytes: readParts(total.storageBytes),
    gpus: readParts(total.gpus),
    extended: Object.fromEntries(
      [...(total.extended ?? [])].map(([name, parts]) => [name, readParts(parts)]),
    ),
  });
}

function noParts(): Parts {
  return { low: 0, high: 0 };
}

function addAmount(parts: Parts, amount: number, times: number): void {
  const low = amount % LOW_PART;
  parts.low += low * times;
  parts.high += ((amount - low) / LOW_PART) * times;
}

function addParts(parts: Parts, other: Parts, times: number): void {
  parts.low += other.low * times;
  parts.high += other.high * times;
}

function readParts({ low, high }: Parts): number {
  return Math.min(high * LOW_PART + low, Number.MAX_SAFE_INTEGER);
}

function extendedParts(total: RunningTotal, name: string): Parts {
  total.extended ??= new Map();
  const parts = total.extended.get(name) ?? noParts();
  total.extended.set(name, parts);
  return parts;
}
