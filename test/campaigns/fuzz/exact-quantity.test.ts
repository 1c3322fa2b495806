import { expect, test } from "vitest";
import { thousandths } from "./exact-quantity.ts";

test.each([
  ["1", 1000n],
  ["0", 0n],
  [".5", 500n],
  ["1.", 1000n],
  ["+2", 2000n],
  ["500m", 500n],
  ["1u", 1n],
  ["1500u", 2n],
  ["1Ki", 1_024_000n],
  ["1.5Gi", 1_610_612_736_000n],
  ["2e3", 2_000_000n],
  ["1E-3", 1n],
  ["1E", 10n ** 21n],
  ["9007199254740993", 9_007_199_254_740_993_000n],
  ["", undefined],
  [".", undefined],
  ["-1", undefined],
  ["1 ", undefined],
  ["1gi", undefined],
  ["1e", undefined],
  ["0x10", undefined],
])("%j is read exactly", (text, expected) => {
  expect(thousandths(text)).toBe(expected);
});
