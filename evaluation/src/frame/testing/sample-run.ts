import type { Chart } from "../../charts/chart.ts";
import type { ListedTest } from "../../tests/list-test.ts";
import type { RawTest, RunRecord } from "../run-folder.ts";

export const RECORD: RunRecord = {
  size: "full",
  seed: 1,
  startedAt: "2026-11-15T20:00:00.000Z",
  machine: {
    cpu: "Some CPU",
    cores: 2,
    memoryMb: 24_300,
    availableMb: 20_000,
    load: 0.1,
    system: "Linux 6.1",
    node: "v24.1.0",
    commit: "abc1234",
  },
  cores: { broker: [0], load: [1] },
};

export const RAW: RawTest = {
  id: "4",
  size: "full",
  seed: 1,
  startedAt: "2026-11-15T20:01:00.000Z",
  commit: "abc1234",
  seconds: 12,
  noise: { loadBefore: 0.2, sameWorkMs: [7, 8, 9], stolenPercent: 0.1 },
  result: { ms: 2 },
};

const CHART: Chart = {
  name: "sample",
  title: "A chart",
  subtitle: "of something",
  kind: "bars",
  x: { label: "who", scale: "names" },
  y: { label: "time", unit: "ms", scale: "linear" },
  series: [{ label: "this system", style: "ours", points: [{ x: "us", y: 2 }] }],
};

/** A test that measures nothing: what it finds is the same each time. */
export function sampleTest(id: string, more: Partial<ListedTest> = {}): ListedTest {
  return {
    id,
    measurement: id,
    title: `Test ${id}`,
    method: `How ${id} is measured.`,
    expectedSeconds: () => 10,
    measure: async () => ({ ms: 2 }),
    judge: () => ({
      faults: [],
      charts: [{ ...CHART, name: `sample-${id}` }],
      findings: {
        summary: [{ metric: `figure of ${id}`, ours: "2 ms", theirs: "4 ms", factor: "2.0×" }],
        text: `What ${id} found.`,
      },
    }),
    ...more,
  };
}
