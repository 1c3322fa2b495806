import { expect, test } from "vitest";
import { agentBandwidthTest } from "../2-agent-bandwidth/agent-bandwidth.ts";
import { bandwidthOf, thinned } from "../2-agent-bandwidth/results.ts";
import { agentFootprintTest } from "../3-agent-footprint/agent-footprint.ts";
import { footprintOf } from "../3-agent-footprint/results.ts";
import type { AgentAtRest, AgentSample } from "./agent-at-rest.ts";

/** Starts with 300 ms of CPU and 9 kB; then 3 ms and 1 kB in every 10 s. */
function lookAt(atMs: number): AgentSample {
  const cpuMs = atMs === 0 ? 5 : 300 + (3 * atMs) / 10_000;
  return {
    atMs,
    cpuMs,
    ticksMs: cpuMs,
    rssMb: atMs === 0 ? 5 : 60,
    privateMb: atMs === 0 ? 1 : 20,
    sentBytes: atMs === 0 ? 0 : 9_000 + atMs / 10,
    receivedBytes: atMs,
  };
}

const FIVE_MINUTES: AgentAtRest = {
  forMs: 300_000,
  nodes: 10,
  pods: 200,
  samples: Array.from({ length: 601 }, (_, index) => lookAt(index * 500)),
  connections: 2,
  heard: 1,
};
const SHORT: AgentAtRest = { ...FIVE_MINUTES, forMs: 3000, samples: FIVE_MINUTES.samples.slice(0, 7) };

test("what was sent is counted from the start, the first 30 s apart", () => {
  expect(bandwidthOf(FIVE_MINUTES)).toEqual({
    seconds: 300,
    sentBytes: 39_000,
    receivedBytes: 300_000,
    sentPerSecond: 130,
    receivedPerSecond: 1000,
    firstSentBytes: 12_000,
    laterSentPerSecond: 100,
  });
  expect(bandwidthOf(SHORT)?.laterSentPerSecond).toBeUndefined();
  expect(bandwidthOf({ samples: [] })).toBeUndefined();
});

test("CPU is told at rest, and with the start in it", () => {
  const { restCpu, wholeCpu, rssMb, peakMb } = footprintOf(FIVE_MINUTES);
  expect(restCpu).toBeCloseTo(0.03);
  expect(wholeCpu).toBeCloseTo(0.13);
  expect([rssMb, peakMb]).toEqual([60, 60]);
  expect(footprintOf(SHORT).restCpu).toBeUndefined();
});

test("the summary sets both beside what was published", () => {
  expect(agentBandwidthTest.findings(FIVE_MINUTES).summary).toEqual([
    { metric: "Agent → broker traffic", ours: "130 B/s", theirs: "506 B/s", factor: "3.9×" },
  ]);
  expect(agentFootprintTest.findings(FIVE_MINUTES).summary.map(({ factor }) => factor)).toEqual([
    "10×",
    "worse: 1.5×",
  ]);
});

test("an agent that was not there is a fault", () => {
  expect(agentBandwidthTest.faults(FIVE_MINUTES)).toEqual([]);
  const silent = FIVE_MINUTES.samples.map((sample) => ({ ...sample, sentBytes: 0 }));
  expect(agentFootprintTest.faults({ ...FIVE_MINUTES, heard: 0, samples: silent })).toHaveLength(2);
});

test("a long line is drawn with few points, the first among them", () => {
  const few = thinned(FIVE_MINUTES.samples, 10_000);
  expect(few.length).toBeLessThanOrEqual(31);
  expect(few[0]?.atMs).toBe(0);
});
