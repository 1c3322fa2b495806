import {
  amountForm,
  emptyVector,
  FIELD_RESOURCES,
  type MutableVector,
  NO_RESOURCES,
  parseAmount,
  quoted,
  type ResourceList,
  type ResourceVector,
  resourceVector,
  type Slot,
} from "@resource-broker/base";

/** One Kubernetes resource and the field of the vector that it is added to. */
interface CountedResource {
  readonly name: string;
  readonly slot: Slot | "extended";
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
  const { gpuResources = ["nvidia.com/gpu"], extendedResources = [] } = options;
  const counted = FIELD_RESOURCES.flatMap(({ kubernetesName, slot, form }): CountedResource[] =>
    (kubernetesName === undefined ? gpuResources : [kubernetesName]).map((name) => ({
      name,
      slot,
      unit: form.unit,
    })),
  );
  const extended = extendedResources.map(
    (name): CountedResource => ({ name, slot: "extended", unit: amountForm(name).unit }),
  );
  const resources = [...extended, ...counted];
  return new Map(resources.map((resource) => [resource.name, resource]));
}

export const DEFAULT_COUNTED_RESOURCES: CountedResources = countedResources();

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
  const amounts = emptyVector();
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
  amounts: MutableVector,
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

function setExtended(amounts: MutableVector, name: string, amount: number): void {
  if (amounts.extended === NOTHING) amounts.extended = {};
  amounts.extended[name] = amount;
}
