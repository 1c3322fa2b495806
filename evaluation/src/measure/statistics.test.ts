import fc from "fast-check";
import { expect, test } from "vitest";
import { distributionOf, mean, median, percentile } from "./statistics.ts";

const numbers = fc.array(fc.integer({ min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 50 });

test.each([
  { name: "the middle of an odd number of values", values: [9, 1, 5], share: 0.5, expected: 5 },
  { name: "between the two middle ones of an even number", values: [1, 2, 3, 10], share: 0.5, expected: 2.5 },
  { name: "the largest", values: [3, 1, 2], share: 1, expected: 3 },
  { name: "the smallest", values: [3, 1, 2], share: 0, expected: 1 },
  { name: "in proportion between two", values: [0, 100], share: 0.95, expected: 95 },
])("a percentile is $name", ({ values, share, expected }) => {
  expect(percentile(values, share)).toBeCloseTo(expected);
});

test("of nothing there is no percentile, mean, median or distribution", () => {
  expect([percentile([], 0.5), mean([]), median([]), distributionOf([])]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("percentiles rise with their share and stay within the values", () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const { least, median: middle, p95, p99, most, count } = distributionOf(values) ?? {};
      expect([least, middle, p95, p99, most]).toEqual(
        [least, middle, p95, p99, most].toSorted((a, b) => Number(a) - Number(b)),
      );
      expect([least, most, count]).toEqual([Math.min(...values), Math.max(...values), values.length]);
    }),
  );
});
