import type { CapacityHistoryDTO, DemandHistoryDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { capacityChart, hasResource, unmetChart, unmetTotals } from "./capacity-charts.ts";

const amounts = (cpu: number) => ({ cpu, memory: cpu * 2 ** 30, gpu: 0 });
const HISTORY: CapacityHistoryDTO = {
  window: "hour",
  from: "2026-07-01T10:00:00Z",
  stepMs: 10_000,
  points: [{}, { available: amounts(-2), reserved: amounts(4), allocatable: amounts(10) }],
};

test("what is not known stays a gap, and less than nothing is nothing", () => {
  const { bands, line } = capacityChart(HISTORY, "cpu");
  expect(bands.map(({ values }) => values)).toEqual([
    [null, 4],
    [null, 0],
  ]);
  expect(line?.values).toEqual([null, 10]);
  expect(hasResource(HISTORY, "cpu")).toBe(true);
  expect(hasResource(HISTORY, "gpu")).toBe(false);
});

const counts = (value: number): number[] => Array.from({ length: 360 }, () => value);
const UNMET: DemandHistoryDTO = {
  window: "hour",
  from: "2026-07-01T10:00:00Z",
  stepMs: 10_000,
  granted: counts(1),
  refused: ["self", "stale", "capacity", "region", "labels", "target"].map((reason, index) => ({
    reason,
    counts: counts(index),
  })),
};

test("360 points become 60 columns that lose nothing; rare reasons are one", () => {
  const { bands, stepMs } = unmetChart(UNMET);
  expect(stepMs).toBe(60_000);
  expect(bands).toHaveLength(6);
  expect(bands.map(({ title }) => title).at(-1)).toBe("Refused: other reasons");
  expect(bands.map(({ values }) => values[0])).toEqual([6, 30, 24, 18, 12, 6]);
});

test("totals say which share was not met", () => {
  expect(unmetTotals(UNMET)).toEqual({ granted: 360, refused: 5400, share: 0.9375 });
  expect(unmetTotals({ ...UNMET, granted: [], refused: [] }).share).toBeNull();
});

test.each([
  [0, [0, 1]],
  [2, [0, 1, 2]],
  [9, [0, 3, 6, 9]],
  [40, [0, 10, 20, 30, 40]],
])("an axis up to %d requests has whole marks", (highest, ticks) => {
  expect(unmetChart(UNMET).ticks?.(highest)).toEqual(ticks);
});
