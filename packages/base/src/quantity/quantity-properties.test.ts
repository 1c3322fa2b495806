import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AmountOptions, parseAmount, parseExactAmount } from "./amount.ts";
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from "./quantity.ts";
import { BINARY_SUFFIXES, DECIMAL_SUFFIXES } from "./suffixes.ts";

const DIGITS = "0123456789".split("");
const ALPHABET = [...DIGITS, ..."+-.eEinumkKMGTP ".split("")];
const SUFFIXES = [...DECIMAL_SUFFIXES.keys(), ...BINARY_SUFFIXES.keys()];

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...DIGITS), minLength: 1, maxLength });

const suffix = fc.constantFrom(...SUFFIXES);

const exponent = fc
  .tuple(fc.constantFrom("e", "E", "e+", "e-"), fc.integer({ min: 0, max: 100 }))
  .map(([sign, power]) => `${sign}${power}`);

const number = fc.oneof(
  digits(25),
  fc.tuple(digits(25), digits(25)).map(([whole, fraction]) => `${whole}.${fraction}`),
  digits(6).map((fraction) => `.${fraction}`),
  digits(6).map((whole) => `${whole}.`),
  fc.integer({ min: 0, max: 2000 }).map(String),
);

/** Every way to write a quantity that is accepted. */
const quantityText = fc
  .tuple(fc.constantFrom("", "", "-", "+"), number, fc.oneof(suffix, suffix, suffix, exponent))
  .map((parts) => parts.join(""));

/** The right characters in any order: mostly wrong, now and then right. */
const nearQuantity = fc.string({ unit: fc.constantFrom(...ALPHABET), maxLength: 100 });

/** Up to 16 digits with the point anywhere: around everything that the fast path must leave to the exact one. */
const shortQuantity = fc
  .tuple(fc.oneof(digits(16), fc.constantFrom("9".repeat(14), "9".repeat(15))), fc.nat(15), suffix)
  .map(([text, point, unit]) => `${text.slice(0, point)}.${text.slice(point)}${unit}`);

/** A plain decimal of at most nine places and the fraction that it stands for. */
const decimal = fc.tuple(fc.constantFrom("", "-"), digits(20), digits(9)).map(([sign, whole, fraction]) => ({
  text: `${sign}${whole}.${fraction}`,
  numerator: BigInt(sign + whole + fraction),
  denominator: 10n ** BigInt(fraction.length),
}));

function quantity(text: string): Quantity {
  const result = parseQuantity(text);
  if (!result.ok) throw new Error(result.problem);
  return result.quantity;
}

describe("a quantity", () => {
  it("keeps its value when it is printed and read again", () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const read = quantity(text);
        expect(compareQuantities(quantity(formatQuantity(read)), read)).toBe(0);
      }),
    );
  });

  it("in canonical form is printed as it is", () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const canonical = formatQuantity(quantity(text));
        expect(formatQuantity(quantity(canonical))).toBe(canonical);
      }),
    );
  });

  it("compares as the fractions multiplied crosswise", () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const left = a.numerator * b.denominator;
        const right = b.numerator * a.denominator;
        const expected = left === right ? 0 : left < right ? -1 : 1;
        expect(compareQuantities(quantity(a.text), quantity(b.text))).toBe(expected);
      }),
    );
  });

  it("is read or refused, never thrown at, whatever up to 100 characters of its alphabet are given", () => {
    fc.assert(
      fc.property(nearQuantity, (text) => {
        const result = parseQuantity(text);
        expect(result.ok ? formatQuantity(result.quantity) : result.problem).toMatch(
          /^-?[0-9]+[a-zA-Z0-9-]*$| is not a quantity: /,
        );
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the fast path and the exact path give the same amount", () => {
  const rows: readonly AmountOptions[] = [
    { unit: "milli", rounding: "up" },
    { unit: "milli", rounding: "down" },
    { unit: "one", rounding: "up" },
    { unit: "one", rounding: "down" },
  ];
  it.each(rows)("in unit $unit, rounded $rounding", (options) => {
    fc.assert(
      fc.property(fc.oneof(shortQuantity, shortQuantity, quantityText, nearQuantity), (text) => {
        expect(parseAmount(text, options)).toEqual(parseExactAmount(text, options));
      }),
      { numRuns: 3000 },
    );
  });
});
