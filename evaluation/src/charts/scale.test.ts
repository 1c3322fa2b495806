import fc from "fast-check";
import { expect, test } from "vitest";
import { linearScale, logBarScale, logScale } from "./scale.ts";

const RANGE = { from: 400, to: 0 };

test.each([
  { values: [27.26], labels: ["0", "5", "10", "15", "20", "25", "30"] },
  { values: [0.04], labels: ["0", "0.01", "0.02", "0.03", "0.04"] },
  { values: [151_798], labels: ["0", "50,000", "100,000", "150,000", "200,000"] },
  { values: [], labels: ["0", "0.2", "0.4", "0.6", "0.8", "1"] },
])("a linear axis for $values begins at 0 and has round steps", ({ values, labels }) => {
  expect(linearScale(values, RANGE).ticks.map(({ label }) => label)).toEqual(labels);
});

test.each([
  { values: [1, 10_000], labels: ["1", "10", "100", "1,000", "10,000"] },
  { values: [0.05, 30], labels: ["0.1", "1", "10"] },
  { values: [0.05, 3], labels: ["0.05", "0.1", "0.2", "0.5", "1", "2", "5"] },
  { values: [76, 102], labels: ["50", "100", "200", "500"] },
  { values: [7], labels: ["5", "10", "20", "50"] },
  { values: [], labels: ["1", "2", "5", "10"] },
])("a logarithmic axis for $values is marked $labels", ({ values, labels }) => {
  expect(logScale(values, RANGE).ticks.map(({ label }) => label)).toEqual(labels);
});

test.each([[[10, 1000]], [[12, 13]], [[1]]])("the shortest bar of %j has a height", (values) => {
  const shortest = logBarScale(values, RANGE).place(Math.min(...values)) ?? RANGE.from;
  expect(RANGE.from - shortest).toBeGreaterThan(20);
});

test("what is 0 or less has no place on a logarithmic axis", () => {
  const { place } = logScale([1, 100], RANGE);
  expect([place(0), place(-1)]).toEqual([undefined, undefined]);
});

test.each([
  { name: "linear", scale: linearScale },
  { name: "logarithmic", scale: logScale },
  { name: "logarithmic bars'", scale: logBarScale },
])("on a $name axis every value is inside, and more is higher", ({ scale }) => {
  const values = fc.array(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(values, (some) => {
      const { place } = scale(some, RANGE);
      const places = some.toSorted((a, b) => a - b).map((value) => place(value) ?? Number.NaN);
      for (const at of places) {
        expect(at).toBeGreaterThanOrEqual(-1e-6);
        expect(at).toBeLessThanOrEqual(400.000_001);
      }
      expect(places).toEqual(places.toSorted((a, b) => b - a));
    }),
  );
});
