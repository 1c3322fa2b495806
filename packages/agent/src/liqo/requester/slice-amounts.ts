import { compareQuantities, parseQuantity } from "@resource-broker/base";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import type { Reservation } from "../../reservations/reservation.ts";
import type { ResourceList } from "../objects/authentication.ts";

export interface SliceAmountTerms {
  /** The extended resource name that reserved GPUs are requested by. */
  readonly gpuResource: string;
}

type ReservedAmounts = Pick<Reservation, "quantities" | "sliceDefaults">;

/** The resources of a slice. Every amount is stated, because Liqo adds defaults for missing ones. */
export function sliceAmounts(
  { quantities, sliceDefaults = DEFAULT_SLICE }: ReservedAmounts,
  { gpuResource }: SliceAmountTerms,
): ResourceList {
  const { cpu, memory, gpu = "0", storage = "0", extended = {} } = quantities;
  return {
    cpu,
    memory,
    pods: String(sliceDefaults.pods),
    "ephemeral-storage": isNothing(storage) ? sliceDefaults.ephemeralStorage : storage,
    ...(isNothing(gpu) ? {} : { [gpuResource]: gpu }),
    ...Object.fromEntries(Object.entries(extended).filter(([, amount]) => !isNothing(amount))),
  };
}

/** Resources of a slice that are not reserved: the provider may grant less of them, but not none. */
export function unreservedNames({ quantities }: ReservedAmounts): readonly string[] {
  return isNothing(quantities.storage ?? "0") ? ["pods", "ephemeral-storage"] : ["pods"];
}

/** Differences between desired and found amounts, in words. Less is accepted for names in `unreserved`. */
export function differences(
  wanted: ResourceList,
  found: ResourceList = {},
  unreserved: readonly string[] = [],
): string[] {
  const wrong = Object.entries(wanted).flatMap(([name, amount]) => {
    const there = found[name];
    if (there !== undefined && compared(amount, there) === 0) return [];
    if (there !== undefined && unreserved.includes(name) && isBetween(there, "0", amount)) return [];
    return [`${name} is ${there ?? "missing"} instead of ${amount}`];
  });
  const unwanted = Object.entries(found)
    .filter(([name, amount]) => !Object.hasOwn(wanted, name) && compared(amount, "0") !== 0)
    .map(([name, amount]) => `${name} is ${amount}, and none is reserved`);
  return [...wrong, ...unwanted];
}

/** True when both name the same resources with the same amounts, however they are written. */
export function isSameList(a: ResourceList, b: ResourceList | undefined): boolean {
  return b !== undefined && Object.keys(a).length === Object.keys(b).length && differences(a, b).length === 0;
}

function isNothing(quantity: string): boolean {
  return compared(quantity, "0") === 0;
}

function isBetween(amount: string | number, less: string, more: string | number): boolean {
  return (compared(less, amount) ?? 0) < 0 && (compared(amount, more) ?? 0) < 0;
}

/** Undefined: one of them is not a quantity. */
function compared(a: string | number, b: string | number): number | undefined {
  const [left, right] = [parseQuantity(String(a)), parseQuantity(String(b))];
  return left.ok && right.ok ? compareQuantities(left.quantity, right.quantity) : undefined;
}
