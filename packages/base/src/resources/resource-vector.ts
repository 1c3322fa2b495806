import { lookup } from "../lookup.ts";
import { amountForm, type FieldName, perResource, type Slot, type SlotResource } from "./resource-table.ts";

/**
 * An amount of each resource, in the ledger's whole units. Every value is a safe integer; a resource that
 * is not mentioned is zero, so a request for it fits nowhere that does not offer it.
 *
 * The four common resources have a slot each. This file reads and writes the slots one by one, because it runs for each of ten
 * thousand candidates; all other code goes by name, with `amountOf` and the table of resources.
 */
export interface ResourceVector extends Readonly<Record<Slot, number>> {
  /** Other extended resources by their Kubernetes name, such as `amd.com/gpu`. Zero entries are left out. */
  readonly extended: Readonly<Record<string, number>>;
}

/** A resource's name as people write it: one with a slot, or an extended resource's Kubernetes name. */
export type ResourceName = FieldName | (string & {});

/** The slots in the order in which sums are computed and decisions are stored; it never changes. */
export const SLOTS = ["cpuMillis", "memoryBytes", "storageBytes", "gpus"] as const satisfies readonly Slot[];

const NOTHING_EXTENDED: Readonly<Record<string, number>> = Object.freeze({});

const NO_NAMES: readonly string[] = [];

export const NO_RESOURCES: ResourceVector = Object.freeze({
  cpuMillis: 0,
  memoryBytes: 0,
  storageBytes: 0,
  gpus: 0,
  extended: NOTHING_EXTENDED,
});

/** A vector under construction. */
export type MutableVector = Record<Slot, number> & { extended: Record<string, number> };

export function emptyVector(): MutableVector {
  return { cpuMillis: 0, memoryBytes: 0, storageBytes: 0, gpus: 0, extended: NOTHING_EXTENDED };
}

export function resourceVector(amounts: Partial<ResourceVector>): ResourceVector {
  return {
    cpuMillis: amounts.cpuMillis ?? 0,
    memoryBytes: amounts.memoryBytes ?? 0,
    storageBytes: amounts.storageBytes ?? 0,
    gpus: amounts.gpus ?? 0,
    extended: withoutZeros(Object.entries(amounts.extended ?? NOTHING_EXTENDED)),
  };
}

/** Combines two vectors resource by resource. */
export function combine(
  a: ResourceVector,
  b: ResourceVector,
  amount: (a: number, b: number) => number,
): ResourceVector {
  return {
    cpuMillis: amount(a.cpuMillis, b.cpuMillis),
    memoryBytes: amount(a.memoryBytes, b.memoryBytes),
    storageBytes: amount(a.storageBytes, b.storageBytes),
    gpus: amount(a.gpus, b.gpus),
    extended: combineExtended(a.extended, b.extended, amount),
  };
}

export const add = (a: ResourceVector, b: ResourceVector): ResourceVector => combine(a, b, (x, y) => x + y);

/** May go below zero: the caller decides what a negative amount means. */
export const subtract = (a: ResourceVector, b: ResourceVector): ResourceVector =>
  combine(a, b, (x, y) => x - y);

export const larger = (a: ResourceVector, b: ResourceVector): ResourceVector => combine(a, b, Math.max);

export const atLeastZero = (vector: ResourceVector): ResourceVector =>
  combine(vector, NO_RESOURCES, Math.max);

export function sum(vectors: Iterable<ResourceVector>): ResourceVector {
  let total = NO_RESOURCES;
  for (const vector of vectors) total = add(total, vector);
  return total;
}

/** True exactly when there is no `shortage`: a resource that is not asked for cannot be short. */
export function fits(request: ResourceVector, available: ResourceVector): boolean {
  if (isShort(request.cpuMillis, available.cpuMillis)) return false;
  if (isShort(request.memoryBytes, available.memoryBytes)) return false;
  if (isShort(request.gpus, available.gpus)) return false;
  if (isShort(request.storageBytes, available.storageBytes)) return false;
  for (const name of extendedNames(request)) {
    // Not amountOf: an extended resource called `gpu` is not the built-in one.
    if (isShort(extendedAmount(request.extended, name), extendedAmount(available.extended, name)))
      return false;
  }
  return true;
}

/** What `available` lacks for `request`; zero where it suffices. */
export const shortage = (request: ResourceVector, available: ResourceVector): ResourceVector =>
  combine(request, available, (wanted, there) => (wanted > 0 ? Math.max(0, wanted - Math.max(0, there)) : 0));

export function isZero(vector: ResourceVector): boolean {
  return resourceNames(vector).length === 0;
}

export function equals(a: ResourceVector, b: ResourceVector): boolean {
  return isZero(subtract(a, b));
}

/** The same result as `equals`, usually without an allocation. */
export function fastEquals(a: ResourceVector, b: ResourceVector): boolean {
  return (
    a.cpuMillis === b.cpuMillis &&
    a.memoryBytes === b.memoryBytes &&
    a.storageBytes === b.storageBytes &&
    a.gpus === b.gpus &&
    (a.extended === b.extended || equals(a, b))
  );
}

/** True when some amount is more than in `other`. */
export function exceeds(vector: ResourceVector, other: ResourceVector): boolean {
  if (vector.cpuMillis > other.cpuMillis || vector.memoryBytes > other.memoryBytes) return true;
  if (vector.storageBytes > other.storageBytes || vector.gpus > other.gpus) return true;
  for (const name of extendedNames(vector)) {
    if (extendedAmount(vector.extended, name) > extendedAmount(other.extended, name)) return true;
  }
  return false;
}

/** True when every amount is zero or a whole number that the ledger can add up without losing a unit. */
export function isCountable(vector: ResourceVector): boolean {
  const amounts = [...slotAmounts(vector), ...Object.values(vector.extended)];
  return amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0);
}

/** The slots by how much they decide which of two vectors is larger: devices are the scarcest. */
export const SIZE_ORDER: readonly Slot[] = ["gpus", "cpuMillis", "memoryBytes", "storageBytes"];

/** The amounts of the slots, in the order of `SLOTS`. */
export type SlotAmounts = readonly [number, number, number, number];

export function slotAmounts(vector: ResourceVector): SlotAmounts {
  return [vector.cpuMillis, vector.memoryBytes, vector.storageBytes, vector.gpus];
}

const BY_SLOT = perResource("slot", (resource) => resource);

/** A number for each resource with a slot, in the order of `SLOTS`. */
export function mapSlots(number: (resource: SlotResource) => number): SlotAmounts {
  const { cpuMillis, memoryBytes, storageBytes, gpus } = BY_SLOT;
  return [number(cpuMillis), number(memoryBytes), number(storageBytes), number(gpus)];
}

/** Writes them to `values`, from `at` on. */
export function writeSlots(vector: ResourceVector, values: Float64Array, at: number): void {
  values[at] = vector.cpuMillis;
  values[at + 1] = vector.memoryBytes;
  values[at + 2] = vector.storageBytes;
  values[at + 3] = vector.gpus;
}

/** The sum, over the requested resources, of the share of `whole` that `part` is. */
export function sumOfShares(request: ResourceVector, part: ResourceVector, whole: ResourceVector): number {
  let total = 0;
  if (request.cpuMillis > 0) total += part.cpuMillis / whole.cpuMillis;
  if (request.memoryBytes > 0) total += part.memoryBytes / whole.memoryBytes;
  if (request.storageBytes > 0) total += part.storageBytes / whole.storageBytes;
  if (request.gpus > 0) total += part.gpus / whole.gpus;
  for (const name of extendedNames(request)) {
    total += extendedAmount(part.extended, name) / extendedAmount(whole.extended, name);
  }
  return total;
}

/** The sum, over the requested resources, of the share of `whole` that stays of `part` without the request. */
export function sumOfRests(request: ResourceVector, part: ResourceVector, whole: ResourceVector): number {
  const { cpuMillis, memoryBytes, storageBytes, gpus } = request;
  let total = 0;
  if (cpuMillis > 0) total += (part.cpuMillis - cpuMillis) / whole.cpuMillis;
  if (memoryBytes > 0) total += (part.memoryBytes - memoryBytes) / whole.memoryBytes;
  if (storageBytes > 0) total += (part.storageBytes - storageBytes) / whole.storageBytes;
  if (gpus > 0) total += (part.gpus - gpus) / whole.gpus;
  for (const name of extendedNames(request)) {
    const rest = extendedAmount(part.extended, name) - extendedAmount(request.extended, name);
    total += rest / extendedAmount(whole.extended, name);
  }
  return total;
}

/** The resources with an amount other than zero, in a fixed order. */
export function resourceNames(vector: ResourceVector): ResourceName[] {
  const names: ResourceName[] = [];
  if (vector.cpuMillis !== 0) names.push("cpu");
  if (vector.memoryBytes !== 0) names.push("memory");
  if (vector.storageBytes !== 0) names.push("storage");
  if (vector.gpus !== 0) names.push("gpu");
  for (const name of Object.keys(vector.extended).sort()) {
    if (vector.extended[name] !== 0) names.push(name);
  }
  return names;
}

/** Names of the extended resources; usually none, and then without an allocation. */
export function extendedNames({ extended }: ResourceVector): readonly string[] {
  return extended === NOTHING_EXTENDED ? NO_NAMES : Object.keys(extended);
}

export function amountOf(vector: ResourceVector, name: ResourceName): number {
  switch (name) {
    case "cpu":
      return vector.cpuMillis;
    case "memory":
      return vector.memoryBytes;
    case "storage":
      return vector.storageBytes;
    case "gpu":
      return vector.gpus;
    default:
      return extendedAmount(vector.extended, name);
  }
}

/** Amounts in Prometheus base units (cores, bytes). CPU and memory are always included, others when not zero. */
export function inBaseUnits(vector: ResourceVector): [resource: string, amount: number][] {
  const names = new Set(["cpu", "memory", ...resourceNames(vector)]);
  return [...names].map((name) => [
    name,
    amountOf(vector, name) / (amountForm(name).unit === "milli" ? 1000 : 1),
  ]);
}

function combineExtended(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
  amount: (a: number, b: number) => number,
): Readonly<Record<string, number>> {
  if (isEmpty(a) && isEmpty(b)) return NOTHING_EXTENDED;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return withoutZeros(
    [...names].map((name) => [name, amount(extendedAmount(a, name), extendedAmount(b, name))]),
  );
}

/** fromEntries defines keys as data: assigning to `__proto__` would lose the amount. */
function withoutZeros(amounts: readonly (readonly [string, number])[]): Readonly<Record<string, number>> {
  const kept = amounts.filter(([, amount]) => amount !== 0);
  return kept.length === 0 ? NOTHING_EXTENDED : Object.fromEntries(kept);
}

function extendedAmount(amounts: Readonly<Record<string, number>>, name: string): number {
  return lookup(amounts, name) ?? 0;
}

function isShort(wanted: number, there: number): boolean {
  return wanted > 0 && !(there >= wanted);
}

function isEmpty(amounts: Readonly<Record<string, number>>): boolean {
  for (const _ in amounts) return false;
  return true;
}
