import { DEFAULT_SLICE, type ReservationDTO } from "@resource-broker/contract";
import {
  type CountedResources,
  formatBytes,
  formatCount,
  formatCpu,
  NO_RESOURCES,
  parseAmount,
  type ResourceVector,
} from "@resource-broker/domain";
import { grantedOf } from "../../publish/advertisement.ts";

/** How this cluster counts resources. */
export interface SliceCounting {
  readonly counted: CountedResources;
}

/** The limit for one resource of a slice. */
export interface Measure {
  /** All GPU resources share one limit, as they share one amount in the reservation. */
  readonly key: string;
  readonly unit: "milli" | "one";
  readonly most: number;
  /** False: it is not in the ledger and is granted anyway. */
  readonly isReserved: boolean;
  readonly show: (amount: number) => string;
}

type Slot = Exclude<keyof ResourceVector, "extended">;

const FORMS: Readonly<Record<Slot, (amount: number) => string>> = {
  cpuMillis: formatCpu,
  memoryBytes: formatBytes,
  storageBytes: formatBytes,
  gpus: formatCount,
};

/** By resource name; undefined: not part of the reservation. */
export type Measures = (name: string) => Measure | undefined;

export function measuresOf(reservation: ReservationDTO, { counted }: SliceCounting): Measures {
  const granted = grantedOf(reservation) ?? NO_RESOURCES;
  const { sliceDefaults = DEFAULT_SLICE } = reservation;
  return (name) => {
    if (name === "pods") return unreserved(countMeasure(name, sliceDefaults.pods));
    const slot = counted.get(name)?.slot ?? "extended";
    if (slot === "extended") return countMeasure(name, ownAmount(granted.extended, name));
    // Unreserved ephemeral storage is granted up to a limit: no pod runs without it.
    const isScratch = slot === "storageBytes" && granted.storageBytes === 0;
    if (isScratch) return unreserved(slotMeasure(slot, bytesIn(sliceDefaults.ephemeralStorage)));
    return slotMeasure(slot, granted[slot]);
  };
}

function unreserved(measure: Measure | undefined): Measure | undefined {
  return measure && { ...measure, isReserved: false };
}

function slotMeasure(slot: Slot, most: number): Measure | undefined {
  if (most === 0) return undefined;
  const unit = slot === "cpuMillis" ? "milli" : "one";
  return { key: slot, unit, most, isReserved: true, show: FORMS[slot] };
}

function countMeasure(name: string, most: number): Measure | undefined {
  if (most === 0) return undefined;
  return { key: `extended/${name}`, unit: "one", most, isReserved: true, show: formatCount };
}

/** Names are untrusted input: inherited object properties are not amounts. */
function ownAmount(amounts: Readonly<Record<string, number>>, name: string): number {
  return Object.hasOwn(amounts, name) ? (amounts[name] ?? 0) : 0;
}

function bytesIn(quantity: string): number {
  const parsed = parseAmount(quantity, { unit: "one", rounding: "down" });
  return parsed.ok ? parsed.amount : 0;
}
