import { type ResourceVector, resourceVector } from "@resource-broker/base";

/**
 * A sum of vectors that stays exact over any number of additions and removals. A large cluster's total may pass
 * 2⁵³, where a plain Number drops units and a removal would no longer undo an addition; so each amount is kept as a
 * low and a high part, and only what is read out is limited to a safe integer.
 */
export interface RunningTotal {
  // Flat fields instead of one object per amount: there is a total for every node, and V8 then allocates fewer heap numbers.
  cpuLow: number;
  cpuHigh: number;
  memoryLow: number;
  memoryHigh: number;
  storageLow: number;
  storageHigh: number;
  gpusLow: number;
  gpusHigh: number;
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
    cpuLow: 0,
    cpuHigh: 0,
    memoryLow: 0,
    memoryHigh: 0,
    storageLow: 0,
    storageHigh: 0,
    gpusLow: 0,
    gpusHigh: 0,
    extended: undefined,
  };
}

/** Adds the vector `times` times; a negative number takes it away again. Its amounts must not be negative. */
export function addTimes(total: RunningTotal, vector: ResourceVector, times: number): void {
  total.cpuLow += lowOf(vector.cpuMillis) * times;
  total.cpuHigh += highOf(vector.cpuMillis) * times;
  total.memoryLow += lowOf(vector.memoryBytes) * times;
  total.memoryHigh += highOf(vector.memoryBytes) * times;
  total.storageLow += lowOf(vector.storageBytes) * times;
  total.storageHigh += highOf(vector.storageBytes) * times;
  total.gpusLow += lowOf(vector.gpus) * times;
  total.gpusHigh += highOf(vector.gpus) * times;
  for (const name in vector.extended) {
    const amount = vector.extended[name] ?? 0;
    addParts(extendedParts(total, name), { low: lowOf(amount), high: highOf(amount) }, times);
  }
}

/** Adds another total, or takes it away with `times` −1. */
export function addTotal(total: RunningTotal, other: RunningTotal, times: 1 | -1): void {
  total.cpuLow += other.cpuLow * times;
  total.cpuHigh += other.cpuHigh * times;
  total.memoryLow += other.memoryLow * times;
  total.memoryHigh += other.memoryHigh * times;
  total.storageLow += other.storageLow * times;
  total.storageHigh += other.storageHigh * times;
  total.gpusLow += other.gpusLow * times;
  total.gpusHigh += other.gpusHigh * times;
  for (const [name, parts] of other.extended ?? []) addParts(extendedParts(total, name), parts, times);
}

/**
 * Amounts above the largest safe integer are returned as that integer. Applied to both capacity and use, this can only
 * make the free amount smaller.
 */
export function readTotal(total: RunningTotal): ResourceVector {
  return resourceVector({
    cpuMillis: amountOf(total.cpuLow, total.cpuHigh),
    memoryBytes: amountOf(total.memoryLow, total.memoryHigh),
    storageBytes: amountOf(total.storageLow, total.storageHigh),
    gpus: amountOf(total.gpusLow, total.gpusHigh),
    extended: Object.fromEntries(
      [...(total.extended ?? [])].map(([name, { low, high }]) => [name, amountOf(low, high)]),
    ),
  });
}

function lowOf(amount: number): number {
  return amount % LOW_PART;
}

function highOf(amount: number): number {
  return Math.floor(amount / LOW_PART);
}

function amountOf(low: number, high: number): number {
  return Math.min(high * LOW_PART + low, Number.MAX_SAFE_INTEGER);
}

function addParts(parts: Parts, other: Parts, times: number): void {
  parts.low += other.low * times;
  parts.high += other.high * times;
}

function extendedParts(total: RunningTotal, name: string): Parts {
  total.extended ??= new Map();
  const parts = total.extended.get(name) ?? { low: 0, high: 0 };
  total.extended.set(name, parts);
  return parts;
}
