import {
  equals,
  NO_RESOURCES,
  parseAmount,
  quoted,
  type ResourceList,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/base";

/** One Kubernetes resource and the field of the vector that it is added to. */
interface CountedResource {
  readonly name: string;
  readonly slot: keyof ResourceVector;
  readonly unit: "milli" | "one";
}

/** The Kubernetes resources that are counted, by name. Any other is ignored. */
export type CountedResources = ReadonlyMap<string, CountedResource>;

export interface CountedResourceOptions {
  /** Counted together as `gpus`; default `nvidia.com/gpu`. */
  readonly gpuResources?: readonly string[];
  /** Counted each under its own name, for example `amd.com/gpu` or `hugepages-2Mi`; default none. */
  readonly extendedResources?: readonly string[];
}

export function countedResources(options: CountedResourceOptions = {}): CountedResources {
  const resources: CountedResource[] = [
    { name: "cpu", slot: "cpuMillis", unit: "milli" },
    { name: "memory", slot: "memoryBytes", unit: "one" },
    { name: "ephemeral-storage", slot: "storageBytes", unit: "one" },
  ];
  for (const name of options.extendedResources ?? []) resources.push({ name, slot: "extended", unit: "one" });
  for (const name of options.gpuResources ?? ["nvidia.com/gpu"]) {
    resources.push({ name, slot: "gpus", unit: "one" });
  }
  return new Map(resources.map((resource) => [resource.name, resource]));
}

export const DEFAULT_COUNTED_RESOURCES: CountedResources = countedResources();

/** A vector under construction. */
export type Amounts = { -readonly [slot in keyof ResourceVector]: ResourceVector[slot] } & {
  extended: Record<string, number>;
};

/** State while the quantities of one object are parsed: what is counted, how it is rounded, and the problems found. */
export interface QuantityReading {
  readonly resources: CountedResources;
  readonly rounding: "up" | "down";
  /** The container that is being read, for the places in `problems`. */
  container: string | undefined;
  /** Each with its place in the object. */
  readonly problems: string[];
}

/** Capacity is rounded down and requests up, so that a fraction of a unit is never lent. */
export function quantityReading(resources: CountedResources, rounding: "up" | "down"): QuantityReading {
  return { resources, rounding, container: undefined, problems: [] };
}

/**
 * The amounts of a list, as a vector; what is missing is zero. An unreadable amount is left out and named in `problems`. `where` is its place in the object,
 * with `*` for the container.
 */
export function readVector(
  reading: QuantityReading,
  list: ResourceList | undefined,
  where: string,
): ResourceVector {
  if (!list) return NO_RESOURCES;
  const amounts: Amounts = { cpuMillis: 0, memoryBytes: 0, storageBytes: 0, gpus: 0, extended: NOTHING };
  for (const name in list) {
    const resource = reading.resources.get(name);
    const amount = resource && readAmount(reading, { resource, text: String(list[name]), where });
    if (resource === undefined || amount === undefined) continue;
    // Several GPU resources share one slot, so within one list amounts add up.
    if (resource.slot === "extended") setExtended(amounts, name, amount);
    else amounts[resource.slot] += amount;
  }
  return amounts.extended === NOTHING ? amounts : resourceVector(amounts);
}

/** Writes the readable amounts of a list over those already there. */
export function overwriteAmounts(
  reading: QuantityReading,
  amounts: Amounts,
  { list, where }: { readonly list: ResourceList; readonly where: string },
): void {
  for (const name in list) {
    const resource = reading.resources.get(name);
    const amount = resource && readAmount(reading, { resource, text: String(list[name]), where });
    if (resource === undefined || amount === undefined) continue;
    if (resource.slot === "extended") setExtended(amounts, name, amount);
    else amounts[resource.slot] = amount;
  }
}

interface Stated {
  readonly resource: CountedResource;
  readonly text: string;
  readonly where: string;
}

function readAmount(reading: QuantityReading, { resource, text, where }: Stated): number | undefined {
  const { rounding, problems, container = "" } = reading;
  const parsed = parseAmount(text, { unit: resource.unit, rounding });
  if (parsed.ok && parsed.amount >= 0) return parsed.amount;
  const problem = parsed.ok ? `${quoted(text)} must not be negative.` : parsed.problem;
  problems.push(`${where.replace("*", container)}.${resource.name}: ${problem}`);
  return undefined;
}

/** Few pods request extended resources: all others share one empty record. */
const NOTHING = NO_RESOURCES.extended;

function setExtended(amounts: Amounts, name: string, amount: number): void {
  if (amounts.extended === NOTHING) amounts.extended = {};
  amounts.extended[name] = amount;
}

/** Same result as `equals`, usually without an allocation: it runs on every pod event. */
export function fastEquals(a: ResourceVector, b: ResourceVector): boolean {
  return (
    a.cpuMillis === b.cpuMillis &&
    a.memoryBytes === b.memoryBytes &&
    a.storageBytes === b.storageBytes &&
    a.gpus === b.gpus &&
    (a.extended === b.extended || equals(a, b))
  );
}
