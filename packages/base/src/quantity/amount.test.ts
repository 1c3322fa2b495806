import { describe, expect, it } from "vitest";
import { parseAmount } from "./amount.ts";
import { fastAmount, NOT_FAST } from "./fast-amount.ts";

describe("an amount is counted in the ledger's units", () => {
  it.each([
    ["500m", "milli", 500, 500],
    ["2", "milli", 2000, 2000],
    ["1.5", "milli", 1500, 1500],
    ["1.0001", "milli", 1001, 1000],
    ["1u", "milli", 1, 0],
    ["8Gi", "one", 8 * 2 ** 30, 8 * 2 ** 30],
    ["0.3Gi", "one", 322_122_548, 322_122_547],
    ["1500m", "one", 2, 1],
    ["129e6", "one", 129_000_000, 129_000_000],
    ["+7", "one", 7, 7],
    ["-1.5", "one", -2, -1],
    ["0.9999999999", "one", 1, 1],
    ["0.99999999999999Ki", "one", 1024, 1024],
    ["9007199254740991", "one", 2 ** 53 - 1, 2 ** 53 - 1],
    ["9007199254740990.5", "one", 2 ** 53 - 1, 2 ** 53 - 2],
    ["9007199254740991m", "milli", 2 ** 53 - 1, 2 ** 53 - 1],
  ] as const)("%s in unit %s is %d rounded up and %d rounded down", (text, unit, up, down) => {
    expect(parseAmount(text, { unit, rounding: "up" })).toEqual({ ok: true, amount: up });
    expect(parseAmount(text, { unit, rounding: "down" })).toEqual({ ok: true, amount: down });
  });
});

describe("an amount that cannot be counted is refused", () => {
  const most = "is too large: the most that can be counted is";
  it.each([
    ["9007199254740992", "one", `${most} "9007199254740991"`],
    ["8Pi", "one", `${most} "9007199254740991"`],
    ["10T", "milli", `${most} "9007199254740991m"`],
    ["1e100", "milli", "is too large"],
    ["-9Ei", "one", "is too large"],
    ["1gi", "one", "is not a quantity"],
    ["", "milli", "is not a quantity"],
  ] as const)("%j in unit %s %s", (text, unit, problem) => {
    const result = parseAmount(text, { unit, rounding: "up" });
    expect(result.ok ? "" : result.problem).toContain(`${JSON.stringify(text)} ${problem}`);
  });

  it("also when rounding alone makes it too large", () => {
    expect(parseAmount("9007199254740991.5", { unit: "one", rounding: "up" }).ok).toBe(false);
    expect(parseAmount("9007199254740991.5", { unit: "one", rounding: "down" }).ok).toBe(true);
  });
});

it.each(["500m", "2", "1.5", "8Gi", "0.5Gi", "16393244Ki", "128974848", "250", "4k", ".5", "5."])(
  "the usual text %s takes the fast path",
  (text) => {
    expect(fastAmount(text, 3, true)).not.toBe(NOT_FAST);
  },
);
