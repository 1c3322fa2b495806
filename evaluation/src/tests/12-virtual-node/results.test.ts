import { expect, test } from "vitest";
import { type Trial, virtualNodeFaults } from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";

const TRIALS: readonly Trial[] = [
  { way: "request", pair: "first", instructionMs: 20, readyMs: 5000 },
  { way: "request", pair: "first", instructionMs: 30, readyMs: 7000 },
  { way: "request", pair: "next", instructionMs: 10, readyMs: 3000 },
  { way: "liqoctl", pair: "first", readyMs: 8000 },
];

test("each way and pair has its own median; a way without a trial leaves a gap", () => {
  const measured = { kind: "measured", trials: TRIALS, failures: [] } as const;
  const { summary, text } = findingsOf(measured);
  expect(summary).toMatchObject([{ ours: "6.00 / 3.00 s", factor: "8.00 / – s with liqoctl by hand" }]);
  expect(text).toContain(
    "| the first reservation of a pair | this system: ResourceRequest | 2 | 25.0 ms | 6.00 s | 5.00 s | 7.00 s |",
  );
  const [chart] = chartsOf(measured);
  expect(chart?.series.map(({ points }) => points.map(({ y }) => y))).toEqual([
    [6, 3],
    [8, undefined],
  ]);
});

test("a trial that did not come to its end is a fault, and so is a run without any", () => {
  const failures = [{ trial: "liqoctl next 2", problem: "not Ready" }];
  const result = { kind: "measured", trials: [], failures } as const;
  expect(virtualNodeFaults(result)).toEqual(["liqoctl next 2: not Ready", "no trial came to its end"]);
  expect(chartsOf(result)).toEqual([]);
});

test("a machine where it cannot be measured is no fault, and the report says why", () => {
  const result = { kind: "not measured", reason: "liqo-controller-manager is missing" } as const;
  expect([virtualNodeFaults(result), chartsOf(result)]).toEqual([[], []]);
  expect(findingsOf(result)).toEqual({
    summary: [],
    text: "**Not measured**: liqo-controller-manager is missing",
  });
});
