import { compareQuantities, parseQuantity, type Quantity } from "@resource-broker/base";
import { BOOL, DOUBLE, INT, QUANTITY, STRING } from "../types.ts";
import { failure, type Value } from "../values.ts";
import { fn, intArg, method, type Overload, taggedArg, textArg } from "./overload.ts";

const MAX_INT = 2n ** 63n - 1n;

export const QUANTITIES: readonly Overload[] = [
  fn("quantity", [STRING], [QUANTITY, ([text]) => read(textArg(text))]),
  fn("isQuantity", [STRING], [BOOL, ([text]) => parseQuantity(textArg(text)).ok]),
  fn("sign", [QUANTITY], [INT, ([value]) => signOf(quantityArg(value))]),
  method("isGreaterThan", [QUANTITY, QUANTITY], [BOOL, ([a, b]) => compared(a, b) > 0]),
  method("isLessThan", [QUANTITY, QUANTITY], [BOOL, ([a, b]) => compared(a, b) < 0]),
  method("compareTo", [QUANTITY, QUANTITY], [INT, ([a, b]) => BigInt(compared(a, b))]),
  method("isInteger", [QUANTITY], [BOOL, ([value]) => wholeOf(quantityArg(value)) !== undefined]),
  method("asInteger", [QUANTITY], [INT, ([value]) => asInteger(quantityArg(value))]),
  method("asApproximateFloat", [QUANTITY], [DOUBLE, ([value]) => asFloat(quantityArg(value))]),
  method("add", [QUANTITY, QUANTITY], [QUANTITY, ([a, b]) => added(quantityArg(a), quantityArg(b))]),
  method("add", [QUANTITY, INT], [QUANTITY, ([a, b]) => added(quantityArg(a), whole(intArg(b)))]),
  method("sub", [QUANTITY, QUANTITY], [QUANTITY, ([a, b]) => added(quantityArg(a), negated(quantityArg(b)))]),
  method("sub", [QUANTITY, INT], [QUANTITY, ([a, b]) => added(quantityArg(a), whole(-intArg(b)))]),
];

function read(text: string): Value {
  const result = parseQuantity(text);
  if (result.ok) return { kind: "quantity", quantity: result.quantity };
  return failure(
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
}

function quantityArg(value: Value | undefined): Quantity {
  return taggedArg(value, "quantity").quantity;
}

function compared(a: Value | undefined, b: Value | undefined): -1 | 0 | 1 {
  return compareQuantities(quantityArg(a), quantityArg(b));
}

function signOf({ digits }: Quantity): bigint {
  if (digits === 0n) return 0n;
  return digits < 0n ? -1n : 1n;
}

/** undefined: a fraction, or beyond what an int holds. */
function wholeOf({ digits, scale }: Quantity): bigint | undefined {
  if (scale > 0) return undefined;
  const value = digits * 10n ** BigInt(-scale);
  return value > MAX_INT || value < -MAX_INT - 1n ? undefined : value;
}

function asInteger(quantity: Quantity): Value {
  return wholeOf(quantity) ?? failure("cannot convert value to integer");
}

function asFloat({ digits, scale }: Quantity): number {
  return Number(`${digits}e${-scale}`);
}

function whole(value: bigint): Quantity {
  return { digits: value, scale: 0, format: "DecimalSI" };
}

function negated(quantity: Quantity): Quantity {
  return { ...quantity, digits: -quantity.digits };
}

function added(a: Quantity, b: Quantity): Value {
  const scale = Math.max(a.scale, b.scale);
  const digits = a.digits * 10n ** BigInt(scale - a.scale) + b.digits * 10n ** BigInt(scale - b.scale);
  return { kind: "quantity", quantity: normal(digits, scale, a) };
}

/** Without the zeros at the end, so that equal quantities have equal fields. */
function normal(digits: bigint, scale: number, { format }: Quantity): Quantity {
  if (digits === 0n) return { digits, scale: 0, format };
  let rest = digits;
  let left = scale;
  while (rest % 10n === 0n) {
    rest /= 10n;
    left--;
  }
  return { digits: rest, scale: left, format };
}
