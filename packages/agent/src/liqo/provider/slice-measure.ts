import type { SliceDefaults } from "@resource-broker/contract";
import {
  type CountedResources,
  formatBytes,
  formatCount,
  formatCpu,
  parseAmount,
  type ResourceVector,
} from "@resource-broker/domain";

/** How this cluster counts resources, and what a virtual node gets beyond what was reserved. */
export interface SliceTerms {
  readonly counted: CountedResources;
  readonly defaults: SliceDefaults;
}

/** What one resource of a slice is measured against. */
export interface Measure {
  /** Several GPU resources share one measure, as they share one count in the reservation. */
  readonly key: string;
  readonly unit: "milli" | "one";
  readonly most: number;
  readonly show: (amount: number) => string;
}

type Slot = Exclude<keyof ResourceVector, "extended">;

const FORMS: Readonly<Record<Slot, (amount: number) => string>> = {
  cpuMillis: formatCpu,
  memoryBytes: formatBytes,
  storageBytes: formatBytes,
  gpus: formatCount,
};

/** Undefined: the reservation has nothing of it. */
export function measureOf(
  name: string,
  granted: ResourceVector,
  { counted, defaults }: SliceTerms,
): Measure | undefined {
  if (name === "pods") return countMeasure(name, defaults.pods);
  const slot = counted.get(name)?.slot ?? "extended";
  if (slot === "extended") return countMeasure(name, ownAmount(granted.extended, name));
  // Scratch space that nobody reserved is given all the same, up to a bound: no pod runs without.
  const isScratch = slot === "storageBytes" && granted.storageBytes === 0;
  return slotMeasure(slot, isScratch ? bytesIn(defaults.ephemeralStorage) : granted[slot]);
}

function slotMeasure(slot: Slot, most: number): Measure | undefined {
  if (most === 0) return undefined;
  return { key: slot, unit: slot === "cpuMillis" ? "milli" : "one", most, show: FORMS[slot] };
}

function countMeasure(name: string, most: number): Measure | undefined {
  return most === 0 ? undefined : { key: `extended/${name}`, unit: "one", most, show: formatCount };
}

/** Names come from strangers: what every object inherits is no amount. */
function ownAmount(amounts: Readonly<Record<string, number>>, name: string): number {
  return Object.hasOwn(amounts, name) ? (amounts[name] ?? 0) : 0;
}

function bytesIn(quantity: string): number {
  const parsed = parseAmount(quantity, { unit: "one", rounding: "down" });
  return parsed.ok ? parsed.amount : 0;
}
