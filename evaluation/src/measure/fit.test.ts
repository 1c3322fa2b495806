import fc from "fast-check";
import { expect, test } from "vitest";
import { linearFit, logLogFit } from "./fit.ts";

const XS = [1, 2, 5, 10, 100, 1000];

test("a line is found again from its points", () => {
  const number = fc.double({ min: -100, max: 100, noNaN: true });
  fc.assert(
    fc.property(number, number, (slope, offset) => {
      const fit = linearFit(XS.map((x) => ({ x, y: slope * x + offset })));
      expect(fit?.slope).toBeCloseTo(slope, 5);
      expect(fit?.offset).toBeCloseTo(offset, 3);
    }),
  );
});

test.each([
  { name: "cost in proportion has slope 1", cost: (x: number) => 3 * x, slope: 1 },
  { name: "cost with the square has slope 2", cost: (x: number) => x * x, slope: 2 },
  { name: "cost that does not grow has slope 0", cost: () => 7, slope: 0 },
])("$name", ({ cost, slope }) => {
  const fit = logLogFit(XS.map((x) => ({ x, y: cost(x) })));
  expect(fit?.slope).toBeCloseTo(slope);
  expect(fit?.r2).toBeCloseTo(1);
});

test("points without a logarithm are left out", () => {
  const fit = logLogFit([
    { x: 0, y: 5 },
    { x: 10, y: 0 },
    { x: 1, y: 1 },
    { x: 10, y: 10 },
  ]);
  expect(fit?.slope).toBeCloseTo(1);
});

test("one place alone has no slope", () => {
  expect(linearFit([])).toBeUndefined();
  expect(
    linearFit([
      { x: 2, y: 1 },
      { x: 2, y: 3 },
    ]),
  ).toBeUndefined();
});

test("a line that explains nothing has an r² near 0", () => {
  const points = [1, -1, -1, 1].map((y, x) => ({ x, y }));
  expect(linearFit(points)?.r2).toBeCloseTo(0);
});
