import { emptyVector, type ResourceVector, resourceVector, SLOTS, writeSlots } from "@resource-broker/base";

/**
 * A sum of vectors that stays exact over any number of additions and removals. A large cluster's total may pass
 * 2⁵³, where a plain Number drops units and a removal would no longer undo an addition; so each amount is kept as a
 * low and a high part, and only what is read out is limited to a safe integer.
 */
export interface RunningTotal {
  /** The low parts of the slots, then their high parts. One array: there is a total for every node. */
  readonly parts: Float64Array;
  /** Made when first needed: most of a large cluster's totals never need it. */
  extended: Map<string, Parts> | undefined;
}

interface Parts {
  low: number;
  high: number;
}

const LOW_PART = 2 ** 27;
const SIZE = SLOTS.length;
const scratch = new Float64Array(SIZE);

export function runningTotal(): RunningTotal {
  return { parts: new Float64Array(2 * SIZE), extended: undefined };
}

/** Adds the vector `times` times; a negative number takes it away again. Its amounts must not be negative. */
export function addTimes(total: RunningTotal, vector: ResourceVector, times: number): void {
  writeSlots(vector, scratch, 0);
  const { parts } = total;
  for (let slot = 0; slot < SIZE; slot++) {
    const amount = scratch[slot] ?? 0;
    parts[slot] = (parts[slot] ?? 0) + lowOf(amount) * times;
    parts[slot + SIZE] = (parts[slot + SIZE] ?? 0) + highOf(amount) * times;
  }
  for (const name in vector.extended) {
    const amount = vector.extended[name] ?? 0;
    addParts(extendedParts(total, name), { low: lowOf(amount), high: highOf(amount) }, times);
  }
}

/** Adds another total, or takes it away with `times` −1. */
export function addTotal(total: RunningTotal, other: RunningTotal, times: 1 | -1): void {
  other.parts.forEach((part, index) => {
    total.parts[index] = (total.parts[index] ?? 0) + part * times;
  });
  for (const [name, parts] of other.extended ?? []) addParts(extendedParts(total, name), parts, times);
}

/**
 * Amounts above the largest safe integer are returned as that integer. Applied to both capacity and use, this can only
 * make the free amount smaller.
 */
export function readTotal({ parts, extended }: RunningTotal): ResourceVector {
  const vector = emptyVector();
  SLOTS.forEach((slot, index) => {
    vector[slot] = amountOf(parts[index] ?? 0, parts[index + SIZE] ?? 0);
  });
  const others = [...(extended ?? [])].map(([name, { low, high }]) => [name, amountOf(low, high)] as const);
  return resourceVector({ ...vector, extended: Object.fromEntries(others) });
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
