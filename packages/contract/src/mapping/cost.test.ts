import { expect, test } from "vitest";
import { formatDecimal } from "./cost.ts";

test.each([
  [0, "0"],
  [0.1 + 0.2, "0.3"],
  [0.042, "0.042"],
  [1e-7, "0.0000001"],
  [1e-13, "0"],
  [1.23456789012345e-6, "0.000001234568"],
  [100, "100"],
  [123_456_789.1, "123456789.1"],
  [1e15, "999999999999"],
  [-1, "0"],
])("the price %d is written %s", (amount, text) => {
  expect(formatDecimal(amount)).toBe(text);
});
