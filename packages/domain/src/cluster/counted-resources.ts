import { parseAmount } from "../quantity/amount.ts";
import { quoted } from "../quantity/quantity-problem.ts";
import { type ResourceVector, resourceVector } from "../resources/resource-vector.ts";
import type { ResourceList } from "./kubernetes.ts";

/** One Kubernetes resource and the place of the vector that its amount goes to. */
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

export interface QuantityReader {
  /** The amounts of a list, as a vector; what is missing or unreadable counts as zero. */
  vector(list: ResourceList | undefined, where: string): ResourceVector;
  /** Writes the readable amounts of a list over those already there. */
  overwrite(amounts: Amounts, list: ResourceList, where: string): void;
  /** What could not be read, each with its place in the object. */
  readonly problems: readonly string[];
}

/** Capacity is rounded down and requests up, so that a fraction of a unit is never lent. */
export function quantityReader(resources: CountedResources, rounding: "up" | "down"): QuantityReader {
  const problems: string[] = [];

  function amount(list: ResourceList, resource: CountedResource, where: string): number | undefined {
    const text = String(list[resource.name]);
    const parsed = parseAmount(text, { unit: resource.unit, rounding });
    if (parsed.ok && parsed.amount >= 0) return parsed.amount;
    const problem = parsed.ok ? `${quoted(text)} must not be negative.` : parsed.problem;
    problems.push(`${where}.${resource.name}: ${problem}`);
    return undefined;
  }

  function write(amounts: Amounts, list: ResourceList, how: { where: string; add: boolean }): void {
    for (const name in list) {
      const resource = resources.get(name);
      if (resource === undefined) continue;
      const value = amount(list, resource, how.where);
      if (value === undefined) continue;
      if (resource.slot === "extended") amounts.extended[name] = value;
      else amounts[resource.slot] = how.add ? amounts[resource.slot] + value : value;
    }
  }

  return {
    problems,
    vector(list, where) {
      const amounts = noAmounts();
      // Several GPU resources share one slot, so within one list amounts add up.
      if (list) write(amounts, list, { where, add: true });
      return resourceVector(amounts);
    },
    overwrite(amounts, list, where) {
      write(amounts, list, { where, add: false });
    },
  };
}

function noAmounts(): Amounts {
  return { cpuMillis: 0, memoryBytes: 0, storageBytes: 0, gpus: 0, extended: {} };
}
