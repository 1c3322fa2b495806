import { formatBytes, formatCount, formatCpu, roundedBytes } from "../quantity/format-amount.ts";

/** How amounts of a resource are counted, written and priced. */
interface AmountForm {
  /** What one unit of the ledger is: a thousandth or a whole one. */
  readonly unit: "milli" | "one";
  /** True: only whole units can be lent, so a fraction is refused instead of rounded. */
  readonly isCounted: boolean;
  readonly isBytes: boolean;
  /** As Kubernetes prints the amount. */
  readonly format: (amount: number) => string;
  /** For people, without the name; may be rounded. */
  readonly show: (amount: number) => string;
  /** Number of ledger units that one price is for. */
  readonly perPrice: number;
}

const CORES = {
  unit: "milli",
  isCounted: false,
  isBytes: false,
  format: formatCpu,
  show: (amount: number) => String(amount / 1000),
  perPrice: 1000,
} as const;
const BYTES = {
  unit: "one",
  isCounted: false,
  isBytes: true,
  format: formatBytes,
  show: roundedBytes,
  perPrice: 1e9,
} as const;
const DEVICES = {
  unit: "one",
  isCounted: true,
  isBytes: false,
  format: formatCount,
  show: String,
  perPrice: 1,
} as const;

/** One resource that the broker knows by name. */
export interface KnownResource {
  /** The name on the wire, in the policy and in flags. */
  readonly name: string;
  /** The name in Kubernetes; undefined: the operator says which resources are counted as this one. */
  readonly kubernetesName: string | undefined;
  /** The name in texts and columns. */
  readonly title: string;
  /** The name in a sentence, in the plural where there is one. */
  readonly noun: string;
  readonly form: AmountForm;
  /** The amount in words, for schemas. */
  readonly description: string;
  readonly examples: readonly string[];
  /** What a price is for, in words. */
  readonly pricedUnit: string;
  /** The agent's flag for its price. */
  readonly priceFlag: string;
  readonly priceExamples: { readonly onDemand: string; readonly spot: string };
  /** True: only wide tables have a column for it. */
  readonly isWide: boolean;
  /** The field of a vector; undefined: the amount is in `extended`, under its name. With it come all the fields below. */
  readonly slot?: string;
  /** The field of a price list. */
  readonly priceSlot?: string;
  /** The field of a price list on the wire. */
  readonly costField?: string;
  /** The field of a ResourceRequest and of an instruction. */
  readonly requestField?: string;
}

/**
 * Every resource that is known by name, in the order of the wire format. A row without a slot
 * travels in `extended` and its price in `extendedCost`, so that no format changes when a row is added.
 */
export const RESOURCES = [
  {
    name: "cpu",
    kubernetesName: "cpu",
    title: "CPU",
    noun: "CPU",
    form: CORES,
    description: "CPU in cores (2, 0.5) or millicores (500m)",
    examples: ["500m", "2"],
    priceFlag: "price-cpu",
    pricedUnit: "one CPU",
    priceExamples: { onDemand: "0.042", spot: "0.012" },
    isWide: false,
    slot: "cpuMillis",
    priceSlot: "cpuHour",
    costField: "cpuCost",
    requestField: "requestedCPU",
  },
  {
    name: "memory",
    kubernetesName: "memory",
    title: "Memory",
    noun: "memory",
    form: BYTES,
    description: "Memory in bytes, with a unit such as Mi or Gi",
    examples: ["512Mi", "8Gi"],
    priceFlag: "price-memory",
    pricedUnit: "one GB (1,000,000,000 bytes) of memory",
    priceExamples: { onDemand: "0.005", spot: "0.002" },
    isWide: false,
    slot: "memoryBytes",
    priceSlot: "memoryGbHour",
    costField: "memoryCost",
    requestField: "requestedMemory",
  },
  {
    name: "gpu",
    kubernetesName: undefined,
    title: "GPU",
    noun: "GPUs",
    form: DEVICES,
    description: "Number of GPUs, whole ones",
    examples: ["1"],
    priceFlag: "price-gpu",
    pricedUnit: "one GPU",
    priceExamples: { onDemand: "2.50", spot: "0.90" },
    isWide: false,
    slot: "gpus",
    priceSlot: "gpuHour",
    costField: "gpuCost",
    requestField: "requestedGPU",
  },
  {
    name: "storage",
    kubernetesName: "ephemeral-storage",
    title: "Storage",
    noun: "ephemeral storage",
    form: BYTES,
    description: "Ephemeral storage in bytes, with a unit such as Gi",
    examples: ["20Gi"],
    priceFlag: "price-storage",
    pricedUnit: "one GB of ephemeral storage",
    priceExamples: { onDemand: "0.0002", spot: "0.0001" },
    isWide: true,
    slot: "storageBytes",
    priceSlot: "storageGbHour",
    costField: "storageCost",
    requestField: "requestedStorage",
  },
  {
    name: "hugepages-2Mi",
    kubernetesName: "hugepages-2Mi",
    title: "HugePages-2Mi",
    noun: "huge pages of 2Mi",
    form: BYTES,
    description: "Memory in huge pages of 2Mi",
    examples: ["64Mi"],
    priceFlag: "price-hugepages-2mi",
    pricedUnit: "one GB of huge pages of 2Mi",
    priceExamples: { onDemand: "0.006", spot: "0.003" },
    isWide: true,
  },
] as const satisfies readonly KnownResource[];

/** A resource with a field of its own in vectors, price lists and wire formats. */
export type SlotResource = Extract<(typeof RESOURCES)[number], { readonly slot: string }>;
export type Slot = SlotResource["slot"];
/** The name of a resource with a field of its own. */
export type FieldName = SlotResource["name"];
/** The two that every set of amounts states, even where they are zero. */
export const MAIN_NAMES = ["cpu", "memory"] as const satisfies readonly FieldName[];
export type MainName = (typeof MAIN_NAMES)[number];

export const FIELD_RESOURCES: readonly SlotResource[] = RESOURCES.filter((resource) => "slot" in resource);

/** One value for each resource with a field of its own, by this field. */
export function perResource<K extends "name" | "slot" | "priceSlot" | "costField" | "requestField", T>(
  key: K,
  make: (resource: SlotResource) => T,
): { readonly [R in SlotResource as R[K]]: T } {
  const entries = FIELD_RESOURCES.map((resource) => [resource[key], make(resource)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one entry for each row
  return Object.fromEntries(entries) as { readonly [R in SlotResource as R[K]]: T };
}

/** The name of a resource that has a row. */
export type KnownName = (typeof RESOURCES)[number]["name"];

/** One value for each row, by its name. */
export function perKnownResource<T>(make: (resource: KnownResource) => T): Readonly<Record<KnownName, T>> {
  const entries = RESOURCES.map((resource) => [resource.name, make(resource)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one entry for each row
  return Object.fromEntries(entries) as Readonly<Record<KnownName, T>>;
}

/** The rows of resources with a field of their own, by name. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each row is under its own name
export const RESOURCE = perResource("name", (resource) => resource) as {
  readonly [R in SlotResource as R["name"]]: R;
};

/** Known resources that travel in `extended`. */
export const NAMED_RESOURCES: readonly KnownResource[] = RESOURCES.filter(
  (resource) => !("slot" in resource),
);

/** Any other resource: devices, counted one by one. */
const DEVICE_FORM: AmountForm = DEVICES;

const BY_NAME: ReadonlyMap<string, KnownResource> = new Map(
  RESOURCES.map((resource) => [resource.name, resource]),
);

/** Undefined for an extended resource that has no row. */
export function knownResource(name: string): KnownResource | undefined {
  return BY_NAME.get(name);
}

/** The field of a vector; undefined: the amount is in `extended`. */
export function slotOf(name: string): Slot | undefined {
  return FIELD_RESOURCES.find((resource) => resource.name === name)?.slot;
}

export function amountForm(name: string): AmountForm {
  return BY_NAME.get(name)?.form ?? DEVICE_FORM;
}

/** The name in texts: the title of a known resource, or the Kubernetes name. */
export function resourceTitle(name: string): string {
  return BY_NAME.get(name)?.title ?? name;
}
