import fc from "fast-check";
import { expect, test } from "vitest";
import { Series } from "./series.ts";

const SHAPE = { stepMs: 10, length: 6 };
const seriesOf = () => new Series(2, { hour: SHAPE, day: { stepMs: 50, length: 4 }, week: SHAPE });

/** Steps of a clock that never runs back, some of them far. */
const steps = fc.array(
  fc.record({
    passMs: fc.oneof(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 0, max: 200 })),
    value: fc.integer({ min: -1000, max: 1000 }),
    kind: fc.constantFrom("sample", "read", "save"),
  }),
  { maxLength: 60 },
);

/** Keeps every sample for ever. */
function naiveRead(samples: readonly { at: number; value: number }[], now: number): (number[] | undefined)[] {
  const last = Math.floor(now / SHAPE.stepMs);
  return Array.from({ length: SHAPE.length }, (_, index) => {
    const slot = last - SHAPE.length + 1 + index;
    const inSlot = samples.filter(({ at }) => Math.floor(at / SHAPE.stepMs) === slot);
    if (inSlot.length === 0) return undefined;
    const mean = inSlot.reduce((sum, { value }) => sum + value, 0) / inSlot.length;
    return [mean, -mean];
  });
}

/** Seven digits are kept. */
function expectAlike(
  found: readonly (ArrayLike<number> | undefined)[],
  expected: readonly (number[] | undefined)[],
): void {
  const isThere = (values: unknown): boolean => values !== undefined;
  expect(found.map(isThere)).toEqual(expected.map(isThere));
  const distances = found.flatMap((values, slot) =>
    Array.from(values ?? [], (figure, index) => Math.abs(figure - (expected[slot]?.[index] ?? Number.NaN))),
  );
  expect(Math.max(0, ...distances)).toBeLessThan(0.01);
}

test("a series shows the mean of each slot like a list of all samples, also when it is written and read back", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e6 }), steps, (begin, all) => {
      let series = seriesOf();
      let now = begin;
      const samples: { at: number; value: number }[] = [];
      for (const { passMs, value, kind } of all) {
        now += passMs;
        if (kind === "sample") {
          series.sample(now, [value, -value]);
          samples.push({ at: now, value });
        } else if (kind === "save") {
          const bytes = series.toBytes();
          series = seriesOf();
          series.fromBytes(bytes);
        }
        expectAlike(series.read("week", now), naiveRead(samples, now));
      }
    }),
  );
});
