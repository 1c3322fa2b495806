import { expect, test } from "vitest";
import { growthOf, slopeText } from "./results.ts";

const growth = (y: (x: number) => number) => growthOf([1, 10, 100, 1000], (x) => x, y);

test.each([
  ["a constant", () => 5, "slope 0.00 (log-log), 0.00 between the last two: flat"],
  [
    "a proportion",
    (x: number) => 3 * x,
    "slope 1.00 (log-log), 1.00 between the last two: about in proportion",
  ],
  [
    "a square",
    (x: number) => x * x,
    "slope 2.00 (log-log), 2.00 between the last two: faster than in proportion",
  ],
])("%s has its slope", (_, y, text) => {
  expect(slopeText(growth(y))).toBe(text);
});

test("what grows late is judged by its end", () => {
  expect(slopeText(growth((x) => 1000 + x * x))).toMatch(/faster than in proportion$/);
});

test("one point has no slope", () => {
  expect(
    slopeText(
      growthOf(
        [1],
        (x) => x,
        (x) => x,
      ),
    ),
  ).toBe("too few points for a slope");
});
