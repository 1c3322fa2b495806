import { describe, expect, it } from "vitest";
import { parseAmount } from "./amount.ts";
import { fastAmount, NOT_FAST } from "./fast-amount.ts";

describe("an amount is counted in the ledger's units", () => {
  const rows: readonly { text: string; unit: "milli" | "one"; up: number; down: number }[] = [
    { text: "500m", unit: "milli", up: 500, down: 500 },
    { text: "2", unit: "milli", up: 2000, down: 2000 },
    { text: "1.5", unit: "milli", up: 1500, down: 1500 },
    { text: "1.0001", unit: "milli", up: 1001, down: 1000 },
    { text: "1u", unit: "milli", up: 1, down: 0 },
    { text: "8Gi", unit: "one", up: 8 * 2 ** 30, down: 8 * 2 ** 30 },
    { text: "0.3Gi", unit: "one", up: 322_122_548, down: 322_122_547 },
    { text: "1500m", unit: "one", up: 2, down: 1 },
    { text: "129e6", unit: "one", up: 129_000_000, down: 129_000_000 },
    { text: "+7", unit: "one", up: 7, down: 7 },
    { text: "-1.5", unit: "one", up: -2, down: -1 },
    { text: "0.9999999999", unit: "one", up: 1, down: 1 },
    { text: "0.99999999999999Ki", unit: "one", up: 1024, down: 1024 },
    { text: "9007199254740991", unit: "one", up: 2 ** 53 - 1, down: 2 ** 53 - 1 },
    { text: "9007199254740990.5", unit: "one", up: 2 ** 53 - 1, down: 2 ** 53 - 2 },
    { text: "9007199254740991m", unit: "milli", up: 2 ** 53 - 1, down: 2 ** 53 - 1 },
  ];
  it.each(rows)(
    "$text in unit $unit is $up rounded up and $down rounded down",
    ({ text, unit, up, down }) => {
      expect(parseAmount(text, { unit, rounding: "up" })).toEqual({ ok: true, amount: up });
      expect(parseAmount(text, { unit, rounding: "down" })).toEqual({ ok: true, amount: down });
    },
  );
});

describe("an amount that cannot be counted is refused", () => {
  const rows: readonly { text: string; unit: "milli" | "one"; problem: string }[] = [
    {
      text: "9007199254740992",
      unit: "one",
      problem: 'is too large: the most that can be counted is "9007199254740991"',
    },
    { text: "8Pi", unit: "one", problem: 'is too large: the most that can be counted is "9007199254740991"' },
    {
      text: "10T",
      unit: "milli",
      problem: 'is too large: the most that can be counted is "9007199254740991m"',
    },
    { text: "1e100", unit: "milli", problem: "is too large" },
    { text: "-9Ei", unit: "one", problem: "is too large" },
    { text: "1gi", unit: "one", problem: "is not a quantity" },
    { text: "", unit: "milli", problem: "is not a quantity" },
  ];
  it.each(rows)("$text in unit $unit $problem", ({ text, unit, problem }) => {
    const result = parseAmount(text, { unit, rounding: "up" });
    expect(result.ok ? "" : result.problem).toContain(`${JSON.stringify(text)} ${problem}`);
  });

  it("also when rounding alone makes it too large", () => {
    expect(parseAmount("9007199254740991.5", { unit: "one", rounding: "up" }).ok).toBe(false);
    expect(parseAmount("9007199254740991.5", { unit: "one", rounding: "down" }).ok).toBe(true);
  });
});

describe("usual texts take the fast path", () => {
  it.each(["500m", "2", "1.5", "8Gi", "0.5Gi", "16393244Ki", "128974848", "250", "4k", ".5", "5."])(
    "%s takes the fast path",
    (text) => {
      expect(fastAmount(text, 3, true)).not.toBe(NOT_FAST);
    },
  );

  it.each([
    "",
    "m",
    "Gi",
    ".",
    "-1",
    "+1",
    "1e3",
    "1gi",
    "1Gx",
    "1\u00e9",
    "1é",
    "1.2.3",
    "8Pi",
    "1234567890123456",
  ])("%j is left to the exact path", (text) => {
    expect(fastAmount(text, 0, true)).toBe(NOT_FAST);
  });
});
