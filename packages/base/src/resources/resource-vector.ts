import { lookup } from "../lookup.ts";

/**
 * An amount of each resource, in the ledger's whole units. Every value is a safe integer; a resource that
 * is not mentioned is zero, so a request for it fits nowhere that does not offer it.
 */
export interface ResourceVector {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly storageBytes: number;
  readonly gpus: number;
  /** Other extended resources by their Kubernetes name, such as `amd.com/gpu`. Zero entries are left out. */
  readonly extended: Readonly<Record<string, number>>;
}

/** A resource's name as people write it: the four built-in ones or an extended resource's Kubernetes name. */
export type ResourceName = "cpu" | "memory" | "storage" | "gpu" | (string & {});

const NOTHING_EXTENDED: Readonly<Record<string, number>> = Object.freeze({});

const NO_NAMES: readonly string[] = [];

export const NO_RESOURCES: ResourceVector = Object.freeze({
  cpuMillis: 0,
  memoryBytes: 0,
  storageBytes: 0,
  gpus: 0,
  extended: NOTHING_EXTENDED,
});

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

/** True when every amount is zero or a whole number that the ledger can add up without losing a unit. */
export function isCountable({
  cpuMillis,
  memoryBytes,
  storageBytes,
  gpus,
  extended,
}: ResourceVector): boolean {
  const amounts = [cpuMillis, memoryBytes, storageBytes, gpus, ...Object.values(extended)];
  return amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0);
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
  const others = resourceNames(vector).filter((name) => name !== "cpu" && name !== "memory");
  return [
    ["cpu", vector.cpuMillis / 1000],
    ["memory", vector.memoryBytes],
    ...others.map((name): [string, number] => [name, amountOf(vector, name)]),
  ];
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
