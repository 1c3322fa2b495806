import fc from "fast-check";
import { expect, test } from "vitest";
import { type Capacity, capacityBar } from "./capacity-bar.tsx";
import {
  axisTicks,
  bandPath,
  binaryTicks,
  linePath,
  type TimeChart,
  timeChartView,
} from "./time-chart-view.ts";

function cpu(allocatable: number, allocated: number, reserved: number): Capacity {
  const of = (value: number) => ({ cpu: value });
  const available = Math.max(0, allocatable - allocated - reserved);
  return {
    allocatable: of(allocatable),
    allocated: of(allocated),
    reserved: of(reserved),
    available: of(available),
  };
}

test("a bar is as long as what there is", () => {
  const bar = capacityBar(cpu(64, 16, 32), "cpu");
  expect(bar.shares).toEqual({ allocated: 0.25, reserved: 0.5, available: 0.25 });
  expect(bar).toMatchObject({ text: "16 of 64 free", isOver: false, hasAny: true });
});

test("a cluster that promised more than it has is drawn full, and says so", () => {
  const bar = capacityBar(cpu(10, 8, 8), "cpu");
  expect(bar.shares).toEqual({ allocated: 0.5, reserved: 0.5, available: 0 });
  expect(bar.isOver).toBe(true);
  expect(bar.description).toContain("more is promised than there is");
});

test("a cluster without GPUs has no bar for them", () => {
  expect(capacityBar(cpu(10, 8, 8), "gpu").hasAny).toBe(false);
});

test("the parts of a bar never exceed it", () => {
  const amount = fc.integer({ min: 0, max: 1e6 });
  fc.assert(
    fc.property(amount, amount, amount, (allocatable, allocated, reserved) => {
      const { shares } = capacityBar(cpu(allocatable, allocated, reserved), "cpu");
      expect(shares.allocated + shares.reserved + shares.available).toBeLessThanOrEqual(1 + 1e-9);
    }),
  );
});

test.each([
  [0, [0, 1]],
  [7, [0, 2, 4, 6, 8]],
  [1688, [0, 500, 1000, 1500, 2000]],
  [0.3, [0, 0.1, 0.2, 0.30000000000000004]],
])("an axis up to %d has round marks", (highest, ticks) => {
  expect(axisTicks(highest)).toEqual(ticks);
});

test("an axis of bytes has marks at powers of two", () => {
  expect(binaryTicks(6.7 * 2 ** 40).at(-1)).toBe(8 * 2 ** 40);
});

test("marks reach from nothing to above the highest value", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-3, max: 1e15, noNaN: true }), (highest) => {
      for (const ticks of [axisTicks(highest), binaryTicks(highest)]) {
        expect(ticks[0]).toBe(0);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest * (1 - 1e-9));
        expect(ticks.length).toBeLessThanOrEqual(7);
      }
    }),
  );
});

test("lines and areas break where nothing is known", () => {
  expect(linePath([[0, 1], null, [2, 3], [4, 5]])).toBe("M0 1M2 3L4 5");
  const band = bandPath([{ x: 0, top: 1, bottom: 9 }, null, { x: 2, top: 3, bottom: 9 }]);
  expect(band).toBe("M0 1L0 9ZM2 3L2 9Z");
});

const CHART: TimeChart = {
  fromMs: 0,
  stepMs: 10_000,
  shape: "area",
  bands: [
    { name: "reserved", title: "Reserved", values: [1, 2, null, 4] },
    { name: "available", title: "Available", values: [3, 2, null, 0] },
  ],
  format: String,
};

test("bands lie on each other, and a point is found again by its place", () => {
  const view = timeChartView(CHART, { width: 468, height: 232 });
  expect(view.yTicks.map(({ text }) => text)).toEqual(["0", "1", "2", "3", "4"]);
  for (const index of [0, 1, 2, 3]) expect(view.indexAt(view.xOf(index))).toBe(index);
  expect(view.indexAt(-50)).toBe(0);
  expect(view.indexAt(9999)).toBe(3);
});

test("a chart of nothing says that it is empty", () => {
  const values = [null, null];
  const empty = { ...CHART, bands: [{ name: "reserved", title: "Reserved", values }] };
  expect(timeChartView(empty, { width: 400, height: 200 }).isEmpty).toBe(true);
  expect(timeChartView({ ...CHART, shape: "columns" }, { width: 400, height: 200 }).isEmpty).toBe(false);
});

test.each([
  ["an hour", 10_000, 360, /^\d\d:(00|15|30|45)$/],
  ["a day", 300_000, 288, /^\d\d:00$/],
  ["a week", 3_600_000, 168, /^\w{3} \d+$/],
] as const)("marks of %s stand at round times", (_, stepMs, points, round) => {
  const values = Array.from({ length: points }, () => 1);
  const chart = {
    ...CHART,
    fromMs: 1_782_900_123_000,
    stepMs,
    bands: [{ name: "reserved", title: "Reserved", values }],
  };
  const ticks = timeChartView(chart, { width: 320, height: 200 }).xTicks;
  expect(ticks.length).toBeGreaterThan(1);
  for (const { text } of ticks) expect(text).toMatch(round);
});
