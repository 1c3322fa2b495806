import type { CountedResources } from "@resource-broker/accounting";
import {
  compareQuantities,
  formatBytes,
  formatCount,
  formatCpu,
  NO_RESOURCES,
  parseAmount,
  parseQuantity,
  type ResourceVector,
} from "@resource-broker/base";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import type { Reservation } from "../../reservations/reservation.ts";
import type { ResourceList } from "../objects/authentication.ts";

/** How this cluster counts resources. */
export interface SliceCounting {
  readonly counted: CountedResources;
}

/** The limit for one resource of a slice. */
interface Measure {
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
type Measures = (name: string) => Measure | undefined;

export interface AmountProblem {
  readonly reason: "TooMuch" | "NotReserved" | "UnreadableAmount" | "NothingAsked";
  readonly message: string;
}

/** More resource names than any node has: limits the work for untrusted input. */
const MAX_NAMES = 64;
const SHOWN_LENGTH = 80;

/**
 * Undefined when the slice asks for no more than the reservation, resource by resource. Too much of an
 * unreserved resource is no problem: it is capped. The policy may have changed between requester and provider,
 * and that must not delay the reserved resources.
 */
export function amountProblem(
  asked: ResourceList,
  reservation: Reservation,
  terms: SliceCounting,
): AmountProblem | undefined {
  const names = Object.keys(asked);
  if (names.length === 0) {
    return { reason: "NothingAsked", message: "it asks for nothing: state cpu, memory, pods and the others" };
  }
  if (names.length > MAX_NAMES) {
    return {
      reason: "NotReserved",
      message: `it names ${names.length} resources, at most ${MAX_NAMES} are read`,
    };
  }
  const measures = measuresOf(reservation, terms);
  const taken = new Map<string, number>();
  for (const name of names) {
    const problem = problemOf({ name, given: asked[name], measure: measures(name), taken });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A list of resources, limited to the reservation. */
export function cappedAmounts(
  resources: ResourceList,
  reservation: Reservation,
  terms: SliceCounting,
): ResourceList {
  const measures = measuresOf(reservation, terms);
  const taken = new Map<string, number>();
  const capped: [string, string][] = [];
  for (const [name, given] of Object.entries(resources).slice(0, MAX_NAMES)) {
    const measure = measures(name);
    const amount = measure === undefined ? "" : readAmount(given, measure.unit);
    if (measure === undefined || typeof amount === "string") continue;
    const before = taken.get(measure.key) ?? 0;
    const left = Math.min(amount, measure.most - before);
    taken.set(measure.key, before + left);
    // Formatted again: the agent's parser and Liqo's must read the same amount.
    capped.push([name, measure.show(left)]);
  }
  return Object.fromEntries(capped);
}

/** True when both name the same amounts, however they are written. */
export function isSameList(a: ResourceList, b: ResourceList): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isSameAmount(a[name], b[name]));
}

interface Asked {
  readonly name: string;
  readonly given: unknown;
  readonly measure: Measure | undefined;
  /** The amount that earlier names used, by measure. */
  readonly taken: Map<string, number>;
}

function problemOf({ name, given, measure, taken }: Asked): AmountProblem | undefined {
  const shown = name.slice(0, SHOWN_LENGTH);
  const amount = readAmount(given, measure?.unit ?? "one");
  if (typeof amount === "string") return { reason: "UnreadableAmount", message: `${shown}: ${amount}` };
  if (measure === undefined) {
    return { reason: "NotReserved", message: `${shown} is not part of the reservation: leave it out` };
  }
  const sum = (taken.get(measure.key) ?? 0) + amount;
  taken.set(measure.key, sum);
  if (sum <= measure.most || !measure.isReserved) return undefined;
  return {
    reason: "TooMuch",
    message: `${shown}: it asks for ${measure.show(sum)}, and ${measure.show(measure.most)} is reserved`,
  };
}

/** The amount in the ledger's units, rounded up; a text is the problem. */
function readAmount(given: unknown, unit: Measure["unit"]): number | string {
  if (typeof given !== "string" && typeof given !== "number") return "is not a quantity";
  const parsed = parseAmount(String(given), { unit, rounding: "up" });
  if (!parsed.ok) return parsed.problem;
  return parsed.amount < 0 ? `${JSON.stringify(given)} must not be negative` : parsed.amount;
}

function isSameAmount(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const [left, right] = [parseQuantity(String(a)), parseQuantity(String(b))];
  return left.ok && right.ok && compareQuantities(left.quantity, right.quantity) === 0;
}

function measuresOf(reservation: Reservation, { counted }: SliceCounting): Measures {
  const { resources: granted = NO_RESOURCES, sliceDefaults = DEFAULT_SLICE } = reservation;
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
