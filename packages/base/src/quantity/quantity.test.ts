import { describe, expect, it } from "vitest";
import { formatQuantity, parseQuantity } from "./quantity.ts";

const EXAMPLE = ' Write for example "500m", "2", "1.5" or "8Gi".';

function problemOf(text: string): string {
  const result = parseQuantity(text);
  return result.ok ? "accepted" : result.problem;
}

describe("a text that is not a quantity is refused with what is wrong", () => {
  const rows: readonly { text: string; reason: string }[] = [
    { text: "", reason: "it is empty" },
    { text: " 1", reason: "it contains a space" },
    { text: "8 Gi", reason: "it contains a space" },
    { text: "1,5", reason: 'it contains ",", write a decimal point instead' },
    { text: "1_0", reason: '"_" at position 2 does not belong in it' },
    { text: "１", reason: '"１" at position 1 does not belong in it' },
    { text: "1💥", reason: '"💥" at position 2 does not belong in it' },
    { text: "1\u202e", reason: '"\\u{202e}" at position 2 does not belong in it' },
    { text: "+-1", reason: "it must start with a number" },
    { text: "--1.5", reason: "it must start with a number" },
    { text: "NaN", reason: "it must start with a number" },
    { text: "Infinity", reason: "it must start with a number" },
    { text: "Gi", reason: "it must start with a number" },
    { text: ".", reason: "it must start with a number" },
    { text: "1.2.3", reason: "it has more than one decimal point" },
    { text: "1e2.5", reason: "it must be one number and one unit" },
    { text: "1gi", reason: 'the unit "gi" is unknown, perhaps "Gi" is meant' },
    { text: "8GiB", reason: 'the unit "GiB" is unknown, perhaps "Gi" is meant' },
    { text: "8mb", reason: 'the unit "mb" is unknown, perhaps "M" is meant' },
    { text: "1K", reason: 'the unit "K" is unknown, write "k" for 1000 or "Ki" for 1024' },
    { text: "1e", reason: 'the unit "e" is unknown, write the exponent after it, as in "1e3"' },
    {
      text: "0x10",
      reason:
        'the unit "x10" is unknown, known are n u m k M G T P E Ki Mi Gi Ti Pi Ei and exponents such as e3',
    },
    { text: "1e1000000000", reason: "its exponent is beyond 100" },
    { text: "1e-1000000000", reason: "its exponent is beyond 100" },
    { text: `1e${"9".repeat(98)}`, reason: "its exponent is beyond 100" },
  ];
  it.each(rows)("$text: $reason", ({ text, reason }) => {
    expect(problemOf(text)).toContain(`is not a quantity: ${reason}.${EXAMPLE}`);
  });

  it("shows only the beginning of a long text", () => {
    expect(parseQuantity("7".repeat(1_000_000))).toEqual({
      ok: false,
      problem: `"${"7".repeat(40)}…" is not a quantity: it is longer than 100 characters.${EXAMPLE}`,
    });
  });

  it("spells out invisible characters", () => {
    expect(problemOf("1\u202e\ud800")).toContain(String.raw`"1\u{202e}\ud800" is not a quantity`);
  });
});

it("refuses to print decimal places that no quantity has", () => {
  expect(() => formatQuantity({ digits: 1n, scale: 10, format: "DecimalSI" })).toThrow(RangeError);
});
