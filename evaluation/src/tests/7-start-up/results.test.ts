import { expect, test } from "vitest";
import { startedAt, startUpMetrics } from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";
import { startUpTest } from "./start-up.ts";

const TRIAL = { certificateMs: 100, processMs: 80, advertisementMs: 70, cpuMs: 120 };
const LOST = { certificateMs: 100, processMs: 80, cpuMs: 120 };

test("the parts of a start add up", () => {
  const slow = { ...TRIAL, processMs: 180 };
  const { start, total, process: own } = startUpMetrics({ trials: [TRIAL, slow] }) ?? {};
  expect([start?.median, total?.median, own?.most]).toEqual([200, 300, 180]);
});

test("a trial that never ended counts for no figure, and is a fault", () => {
  expect(startUpMetrics({ trials: [TRIAL, LOST] })?.total.count).toBe(1);
  expect(startUpMetrics({ trials: [LOST] })).toBeUndefined();
  expect(startUpTest.faults({ trials: [TRIAL, LOST] })).toEqual([
    "the broker never heard the agent of trial 2",
  ]);
  expect([chartsOf({ trials: [LOST] }), findingsOf({ trials: [] }).summary]).toEqual([[], []]);
});

test("the start is found in the agent's log", () => {
  const lines = [
    '{"level":40,"time":5,"msg":"careful"}',
    '{"level":30,"time":1794771655561,"msg":"the agent starts"}',
  ];
  expect(startedAt(lines)).toBe(1_794_771_655_561);
  expect(startedAt(lines.slice(0, 1))).toBeUndefined();
});

test("a start is compared with the fastest that was published, never with the slowest", () => {
  const [whole, start] = findingsOf({ trials: [TRIAL] }).summary;
  expect(whole).toMatchObject({ ours: "250 ms", theirs: "1.0–3.9 s", factor: "4.0×" });
  expect(start).toMatchObject({ ours: "150 ms", theirs: "113–165 ms", factor: "worse: 1.1×" });
});

test("the published bars are as high as what was published", () => {
  const [chart] = chartsOf({ trials: [TRIAL] });
  const sum = (at: number): number =>
    (chart?.series ?? []).reduce((total, { points }) => total + (points[at]?.y ?? 0), 0);
  expect([sum(0), sum(1), sum(2)]).toEqual([250, 1000, 3900]);
});
