import { expect, test } from "vitest";
import { brokerCpuTest } from "../1a-broker-cpu/broker-cpu.ts";
import { brokerMemoryTest } from "../1b-broker-memory/broker-memory.ts";
import { expectedSeconds, type Fleet, INTERVAL_MS, PLANS, type Staircase, type Step } from "./staircase.ts";
import { cpuMetrics, memoryMetrics, staircaseFaults } from "./step-metrics.ts";

/** A broker that takes `percent` of a core in each half of a minute, with so much memory. */
function stepOf(fleet: Fleet, count: number, percents: readonly number[], rssMb = 70): Step {
  let cpuMs = 1000;
  const samples = [{ atMs: 0, cpuMs, ticksMs: cpuMs, rssMb, privateMb: 20 }];
  for (const [window, percent] of percents.entries()) {
    cpuMs += (percent / 100) * INTERVAL_MS;
    const atMs = INTERVAL_MS * (window + 1);
    samples.push({ atMs, cpuMs, ticksMs: cpuMs, rssMb: rssMb + 2 * (window + 1), privateMb: 20 });
  }
  return { fleet, count, samples, heard: count, failed: 0 };
}

const STAIRCASE: Staircase = {
  windowMs: 60_000,
  intervalMs: INTERVAL_MS,
  steps: [
    stepOf("agents", 1, [0.1, 0.3]),
    stepOf("agents", 10, [0.2, 0.4]),
    stepOf("agents", 100, [0.9, 1.1]),
    stepOf("clients", 10_000, [25, 35], 700),
  ],
};

test("CPU is that of the whole window, its spread that of the intervals", () => {
  const [first] = cpuMetrics(STAIRCASE, "agents");
  expect(first?.count).toBe(1);
  expect(first?.value).toBeCloseTo(0.2);
  expect(first?.low).toBeCloseTo(0.1);
  expect(first?.high).toBeCloseTo(0.3);
});

test("memory is the median of all looks", () => {
  expect(memoryMetrics(STAIRCASE, "clients")).toEqual([{ count: 10_000, value: 702, low: 700, high: 704 }]);
  expect(memoryMetrics(STAIRCASE, "agents", "privateMb").at(0)?.value).toBe(20);
});

test("whoever was not heard, or was turned away, is a fault", () => {
  expect(staircaseFaults(STAIRCASE)).toEqual([]);
  const lost = { ...stepOf("agents", 10, [1]), heard: 9 };
  const failed = { ...stepOf("clients", 1_000, [1]), failed: 3 };
  expect(staircaseFaults({ ...STAIRCASE, steps: [lost, failed] })).toEqual([
    "of 10 real agents the broker had heard 9 lately",
    "3 calls or streams of 1,000 protocol clients failed",
  ]);
});

test("the summary compares at the largest number that both have", () => {
  expect(brokerCpuTest.findings(STAIRCASE).summary).toEqual([
    {
      metric: "Broker CPU, 100 real agents",
      ours: "1.00 % of one core",
      theirs: "27.3 % of one core",
      factor: "27×",
    },
    { metric: "Broker CPU, 10,000 protocol clients", ours: "30.0 % of one core", theirs: "–", factor: "–" },
  ]);
  expect(brokerMemoryTest.findings(STAIRCASE).summary[0]).toEqual({
    metric: "Broker memory, 100 real agents",
    ours: "72.0 MB",
    theirs: "42.5 MB",
    factor: "worse: 1.7×",
  });
});

test("clients that poll are compared with agents that polled", () => {
  const polled = { ...STAIRCASE, steps: [stepOf("pollers", 100, [2, 2]), stepOf("pollers", 1_000, [9, 9])] };
  expect(brokerCpuTest.findings(polled).summary).toEqual([
    {
      metric: "Broker CPU, 100 protocol clients that poll every 5 s",
      ours: "2.00 % of one core",
      theirs: "27.3 % of one core",
      factor: "14×",
    },
  ]);
});

test("every chart has both series, and the growth says its slope", () => {
  for (const chart of [...brokerCpuTest.charts(STAIRCASE), ...brokerMemoryTest.charts(STAIRCASE)]) {
    expect(chart.series.map(({ label }) => label).join()).toMatch(/this system.*Go thesis, 2026, published/);
    if (chart.name.endsWith("growth")) expect(chart.notes?.join()).toMatch(/slope \d\.\d\d \(log-log/);
  }
});

test("every text says what was measured where one side published nothing", () => {
  expect(brokerCpuTest.findings(STAIRCASE).text).toContain(
    "| 10,000 protocol clients | 30.0 % of one core | 25.0–35.0 | – | – |",
  );
});

test("a whole run has every number of agents that was published, in windows of whole intervals", () => {
  const { counts, windowMs } = PLANS.full;
  const published = brokerCpuTest.charts(STAIRCASE)[0]?.series[1]?.points.map(({ x }) => x);
  expect(counts.agents.filter((count) => count > 0)).toEqual(published);
  expect(windowMs % INTERVAL_MS).toBe(0);
  expect(expectedSeconds("full")).toBeGreaterThan((20 * windowMs) / 1000);
});
