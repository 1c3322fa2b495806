import type { CountedResources } from "@resource-broker/accounting";
import { amountForm, FIELD_RESOURCES, NO_RESOURCES, parseAmount } from "@resource-broker/base";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import type { Reservation } from "../../reservations/reservation.ts";
import { type ResourceList, SCRATCH } from "../objects.ts";

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
  counted: CountedResources,
): AmountProblem | undefined {
  const count = Object.keys(asked).length;
  if (count === 0) {
    return { reason: "NothingAsked", message: "it asks for nothing: state cpu, memory, pods and the others" };
  }
  if (count > MAX_NAMES) {
    return { reason: "NotReserved", message: `it names ${count} resources, at most ${MAX_NAMES} are read` };
  }
  for (const { name, amount, before, measure } of readAmounts(asked, reservation, counted)) {
    const shown = name.slice(0, SHOWN_LENGTH);
    if (typeof amount === "string") return { reason: "UnreadableAmount", message: `${shown}: ${amount}` };
    if (measure === undefined) {
      return { reason: "NotReserved", message: `${shown} is not part of the reservation: leave it out` };
    }
    const { most, isReserved, show } = measure;
    if (before + amount <= most || !isReserved) continue;
    const message = `${shown}: it asks for ${show(before + amount)}, and ${show(most)} is reserved`;
    return { reason: "TooMuch", message };
  }
  return undefined;
}

/** A list of resources, limited to the reservation. */
export function cappedAmounts(
  resources: ResourceList,
  reservation: Reservation,
  counted: CountedResources,
): ResourceList {
  const capped = readAmounts(resources, reservation, counted).flatMap(({ name, amount, before, measure }) => {
    if (measure === undefined || typeof amount === "string") return [];
    const left = Math.min(amount, Math.max(0, measure.most - before));
    // Formatted again: the agent's parser and Liqo's must read the same amount.
    return [[name, measure.show(left)] as const];
  });
  return Object.fromEntries(capped);
}

interface AskedAmount {
  readonly name: string;
  /** A text is the problem. */
  readonly amount: number | string;
  /** The amount that earlier names asked of the same measure. */
  readonly before: number;
  readonly measure: Measure | undefined;
}

function readAmounts(
  resources: ResourceList,
  reservation: Reservation,
  counted: CountedResources,
): AskedAmount[] {
  const measures = measuresOf(reservation, counted);
  const taken = new Map<string, number>();
  return Object.entries(resources)
    .slice(0, MAX_NAMES)
    .map(([name, given]) => {
      const measure = measures(name);
      const amount = readAmount(given, measure?.unit ?? "one");
      const before = taken.get(measure?.key ?? "") ?? 0;
      if (measure !== undefined && typeof amount === "number") taken.set(measure.key, before + amount);
      return { name, amount, before, measure };
    });
}

/** The amount in the ledger's units, rounded up; a text is the problem. */
function readAmount(given: unknown, unit: Measure["unit"]): number | string {
  if (typeof given !== "string" && typeof given !== "number") return "is not a quantity";
  const parsed = parseAmount(String(given), { unit, rounding: "up" });
  if (!parsed.ok) return parsed.problem;
  return parsed.amount < 0 ? `${JSON.stringify(given)} must not be negative` : parsed.amount;
}

function measuresOf(reservation: Reservation, counted: CountedResources): Measures {
  const { resources: granted = NO_RESOURCES, sliceDefaults = DEFAULT_SLICE } = reservation;
  return (name) => {
    if (name === "pods") return unreserved(measureOf(name, name, sliceDefaults.pods));
    const slot = counted.get(name)?.slot ?? "extended";
    const resource = FIELD_RESOURCES.find((known) => known.slot === slot);
    if (resource === undefined) return measureOf(name, `extended/${name}`, ownAmount(granted.extended, name));
    const reserved = granted[resource.slot];
    // Unreserved scratch storage is granted up to a limit.
    return resource === SCRATCH && reserved === 0
      ? unreserved(measureOf(resource.name, slot, bytesIn(sliceDefaults.ephemeralStorage)))
      : measureOf(resource.name, slot, reserved);
  };
}

function unreserved(measure: Measure | undefined): Measure | undefined {
  return measure && { ...measure, isReserved: false };
}

function measureOf(name: string, key: string, most: number): Measure | undefined {
  if (most === 0) return undefined;
  const { unit, format } = amountForm(name);
  return { key, unit, most, isReserved: true, show: format };
}

/** Names are untrusted input: inherited object properties are not amounts. */
function ownAmount(amounts: Readonly<Record<string, number>>, name: string): number {
  return Object.hasOwn(amounts, name) ? (amounts[name] ?? 0) : 0;
}

function bytesIn(quantity: string): number {
  const parsed = parseAmount(quantity, { unit: "one", rounding: "down" });
  return parsed.ok ? parsed.amount : 0;
}
