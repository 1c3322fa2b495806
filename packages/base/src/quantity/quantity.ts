import { NO_NUMBER, quantityProblem, shapeProblem, unitProblem } from "./quantity-problem.ts";
import { BINARY_SUFFIXES, DECIMAL_SUFFIXES } from "./suffixes.ts";

/** The family of units a quantity was written in; it is printed in the same family. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/**
 * A Kubernetes quantity, exactly: `digits / 10^scale`. `digits` never ends in a zero (zero itself is 0 with scale 0),
 * so two quantities of one format are equal when their fields are.
 */
export interface Quantity {
  readonly digits: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
}

export type QuantityResult =
  | { readonly ok: true; readonly quantity: Quantity }
  | { readonly ok: false; readonly problem: string };

/**
 * Kubernetes sets no limit. The longest text with a meaning, a sign with 19 digits before and 9 after the point
 * and an exponent, has about 35 characters; three times that leaves room for padding with zeros.
 */
const MAX_LENGTH = 100;
/** No value from 1n to 2^63-1 needs a larger exponent; without a limit `1e-1000000000` would block for minutes. */
const MAX_EXPONENT = 100;
/** Kubernetes keeps nine decimal places and rounds what is finer away from zero, so that a request is never lost. */
const MAX_SCALE = 9;
/** Kubernetes caps quantities with a binary suffix here, the largest int64, and only those. */
const MAX_BINARY = 2n ** 63n - 1n;
const MAX_DECIMAL_SUFFIX_EXPONENT = 18;

// Each part excludes the first character of the next, so matching is linear in the length.
const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([A-Za-z]*)([+-]?[0-9]*)$/;

interface Unit {
  readonly format: QuantityFormat;
  readonly powerOfTen: number;
  readonly powerOfTwo: number;
}

/** Reads a quantity as Kubernetes does; deliberate differences are in oracle-differences.ts. */
export function parseQuantity(text: string): QuantityResult {
  if (text === "") return refused(quantityProblem(text, "it is empty"));
  if (text.length > MAX_LENGTH) {
    return refused(quantityProblem(text, `it is longer than ${MAX_LENGTH} characters`));
  }
  const parts = SHAPE.exec(text);
  return parts === null ? refused(shapeProblem(text)) : parseParts(text, parts);
}

/** The canonical form: no fraction, the largest unit that loses nothing, in the quantity's own family of units. */
export function formatQuantity(quantity: Quantity): string {
  const { digits, scale, format } = quantity;
  if (digits === 0n) return "0";
  if (format === "BinarySI" && scale <= 0) {
    const value = digits * 10n ** BigInt(-scale);
    if (value <= -1024n || value >= 1024n) return formatBinary(value);
  }
  return formatDecimal(quantity, format === "DecimalExponent");
}

/** Negative when `a` is less than `b`, positive when it is more, zero when they are the same amount. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const scale = Math.max(a.scale, b.scale);
  const left = a.digits * 10n ** BigInt(scale - a.scale);
  const right = b.digits * 10n ** BigInt(scale - b.scale);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function parseParts(text: string, parts: RegExpExecArray): QuantityResult {
  const [, sign, whole = "", fraction = "", letters = "", exponent = ""] = parts;
  const digits = whole + fraction;
  if (digits === "") return refused(quantityProblem(text, NO_NUMBER));
  const unit = unitOf(letters, exponent);
  if (unit === undefined) return refused(unitProblem(text, letters + exponent));
  if (Math.abs(unit.powerOfTen) > MAX_EXPONENT) {
    return refused(quantityProblem(text, `its exponent is beyond ${MAX_EXPONENT}`));
  }
  const magnitude = magnitudeOf(BigInt(digits), fraction.length, unit);
  return { ok: true, quantity: sign === "-" ? { ...magnitude, digits: -magnitude.digits } : magnitude };
}

function refused(problem: string): QuantityResult {
  return { ok: false, problem };
}

function unitOf(letters: string, exponent: string): Unit | undefined {
  if (exponent !== "") {
    // "+" alone is not a number: it becomes NaN.
    const powerOfTen = Number.parseInt(exponent, 10);
    if ((letters !== "e" && letters !== "E") || Number.isNaN(powerOfTen)) return undefined;
    return { format: "DecimalExponent", powerOfTen, powerOfTwo: 0 };
  }
  const powerOfTen = DECIMAL_SUFFIXES.get(letters);
  if (powerOfTen !== undefined) return { format: "DecimalSI", powerOfTen, powerOfTwo: 0 };
  const powerOfTwo = BINARY_SUFFIXES.get(letters);
  return powerOfTwo === undefined ? undefined : { format: "BinarySI", powerOfTen: 0, powerOfTwo };
}

function magnitudeOf(digits: bigint, decimalPlaces: number, unit: Unit): Quantity {
  const exact = { digits: digits << BigInt(unit.powerOfTwo), scale: decimalPlaces - unit.powerOfTen };
  const { digits: rounded, scale } = roundedUp(exact);
  if (unit.format !== "BinarySI") return normal(rounded, scale, unit.format);
  const one = 10n ** BigInt(scale);
  if (rounded > MAX_BINARY * one) return normal(MAX_BINARY, 0, "BinarySI");
  // A fraction of one cannot be written with a binary suffix.
  return normal(rounded, scale, rounded > 0n && rounded < one ? "DecimalSI" : "BinarySI");
}

function roundedUp(exact: { digits: bigint; scale: number }): { digits: bigint; scale: number } {
  if (exact.scale <= MAX_SCALE) return exact;
  const divisor = 10n ** BigInt(exact.scale - MAX_SCALE);
  return { digits: (exact.digits + divisor - 1n) / divisor, scale: MAX_SCALE };
}

function normal(digits: bigint, scale: number, format: QuantityFormat): Quantity {
  if (digits === 0n) return { digits, scale: 0, format };
  const text = digits.toString();
  let end = text.length;
  while (text.charCodeAt(end - 1) === 48) end--;
  const zeros = text.length - end;
  return { digits: zeros === 0 ? digits : BigInt(text.slice(0, end)), scale: scale - zeros, format };
}

function formatBinary(value: bigint): string {
  let rest = value;
  let suffix = "";
  for (const larger of BINARY_SUFFIXES.keys()) {
    if (rest % 1024n !== 0n) break;
    rest /= 1024n;
    suffix = larger;
  }
  return `${rest}${suffix}`;
}

function formatDecimal({ digits, scale }: Quantity, asExponent: boolean): string {
  const largest = Math.floor(-scale / 3) * 3;
  const exponent = asExponent ? largest : Math.min(largest, MAX_DECIMAL_SUFFIX_EXPONENT);
  const number = `${digits}${"0".repeat(-scale - exponent)}`;
  if (asExponent) return exponent === 0 ? number : `${number}e${exponent}`;
  for (const [suffix, powerOfTen] of DECIMAL_SUFFIXES) if (powerOfTen === exponent) return number + suffix;
  throw new RangeError(`a quantity has at most ${MAX_SCALE} decimal places, this one has ${scale}`);
}
