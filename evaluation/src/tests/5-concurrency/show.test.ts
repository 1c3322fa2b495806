import { expect, test } from "vitest";
import type { BrokerConcurrency } from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";

const broker = (subject: string, medianMs: number): BrokerConcurrency => ({
  subject,
  lenders: 3,
  levels: [1, 10].map((simultaneous) => ({ simultaneous, roundsMs: [[medianMs]], timeouts: 0, refused: 0 })),
  contest: { simultaneous: 4, room: 2, granted: 2, timeouts: 0 },
});
const labels = (...brokers: Parameters<typeof chartsOf>) =>
  chartsOf(...brokers).flatMap(({ series }) => series.map(({ label }) => label));

test("both sides are shown, and a third one where there is one", () => {
  const ours = broker("this system", 1);
  const both = ["this system, median", "this system, 95th percentile", "Go thesis, 2026, published, median"];
  expect(labels({ ours })).toEqual(both);
  expect(labels({ ours, baseline: broker("baseline", 2) })).toEqual([
    ...both.slice(0, 2),
    "baseline, median",
    ...both.slice(2),
  ]);
});

test("a target that is missed is said, and one that is met is not called missed", () => {
  expect(findingsOf({ ours: broker("this system", 1.5) }).text).toContain(
    "**Short of our own targets:** at 1 the median is 1.50 ms, the target 1 ms.",
  );
  expect(findingsOf({ ours: broker("this system", 0.5) }).text).toContain("are met");
});

test("a baseline that is faster is called so", () => {
  const { text } = findingsOf({ ours: broker("this system", 4), baseline: broker("baseline", 2) });
  expect(text).toContain("this system against the baseline: worse: 2.0× at 1, worse: 2.0× at 10");
});
