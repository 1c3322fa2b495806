import { BINARY_SUFFIXES, DECIMAL_SUFFIXES } from "./suffixes.ts";

/** The exact path must parse it: the text is unusual or invalid, or the amount is not a safe integer. */
export const NOT_FAST = -1;

/** 15 digits stay below 2^53, so every step below is exact in plain Numbers. */
const MAX_DIGITS = 15;
const MAX_LENGTH = MAX_DIGITS + ".Gi".length;
/** What is finer is rounded to nano first: that is left to the exact path. */
const MAX_DECIMAL_PLACES = 9;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const LETTER_I = 105;

/** A table, because `10 ** n` need not be exact. Every power of ten up to 10^22 is an exact Number. */
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
const POWER_BY_LETTER = byFirstLetter(DECIMAL_SUFFIXES, (powerOfTen) => powerOfTen);
const FACTOR_BY_LETTER = byFirstLetter(BINARY_SUFFIXES, (powerOfTwo) => Number(1n << BigInt(powerOfTwo)));

/**
 * The amount of a plain `500m`, `2`, `1.5` or `8Gi` in units of 10^-`unitScale`, or `NOT_FAST`. The broker reads
 * dozens of quantities in every advertisement: this path uses no BigInt and no regular expression.
 */
export function fastAmount(text: string, unitScale: number, roundUp: boolean): number {
  if (text.length > MAX_LENGTH) return NOT_FAST;
  const wholeEnd = endOfDigits(text, 0);
  const end = text.charCodeAt(wholeEnd) === POINT ? endOfDigits(text, wholeEnd + 1) : wholeEnd;
  const places = Math.max(0, end - wholeEnd - 1);
  const digits = wholeEnd + places;
  if (digits === 0 || digits > MAX_DIGITS) return NOT_FAST;
  const power = decimalPower(text, end) - places;
  if (!(power >= -MAX_DECIMAL_PLACES)) return NOT_FAST;
  return scaled(mantissaOf(text, end) * binaryFactor(text, end), power + unitScale, roundUp);
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
}

/** The digits before `end` as one number, without the point between them. */
function mantissaOf(text: string, end: number): number {
  let mantissa = 0;
  for (let index = 0; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code !== POINT) mantissa = mantissa * 10 + (code - ZERO);
  }
  return mantissa;
}

/** `number * 10^power` as a whole number. NaN, from an unknown suffix, passes no comparison and ends in `NOT_FAST`. */
function scaled(number: number, power: number, roundUp: boolean): number {
  if (power >= 0) {
    // A product beyond 2^53 may be inexact, but is never rounded to below it.
    const product = number * (POWERS_OF_TEN[power] ?? Number.NaN);
    return product <= Number.MAX_SAFE_INTEGER ? product : NOT_FAST;
  }
  const divisor = POWERS_OF_TEN[-power] ?? Number.NaN;
  if (!(number <= Number.MAX_SAFE_INTEGER)) return NOT_FAST;
  const rest = number % divisor;
  const whole = (number - rest) / divisor;
  return rest > 0 && roundUp ? whole + 1 : whole;
}

/** Of the suffix that begins at `start`: 0 when it is none or a binary one. */
function decimalPower(text: string, start: number): number {
  if (text.length !== start + 1) return 0;
  return POWER_BY_LETTER[text.charCodeAt(start)] ?? Number.NaN;
}

/** Of the suffix that begins at `start`: 1 when it is none or a decimal one. */
function binaryFactor(text: string, start: number): number {
  if (text.length <= start + 1) return 1;
  if (text.length !== start + 2 || text.charCodeAt(start + 1) !== LETTER_I) return Number.NaN;
  return FACTOR_BY_LETTER[text.charCodeAt(start)] ?? Number.NaN;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** ASCII code of a suffix's first letter to `value`, NaN for all others. */
function byFirstLetter(
  suffixes: ReadonlyMap<string, number>,
  value: (power: number) => number,
): Float64Array {
  const table = new Float64Array(128).fill(Number.NaN);
  for (const [suffix, power] of suffixes) if (suffix !== "") table[suffix.charCodeAt(0)] = value(power);
  return table;
}
