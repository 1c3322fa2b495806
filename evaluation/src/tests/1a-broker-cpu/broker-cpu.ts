import { PREDECESSOR } from "../../predecessor.ts";
import { numberText } from "../../report/number-text.ts";
import { type MetricsByFleet, perAgent, slopeNote } from "../staircase/show-staircase.ts";
import { staircaseTest } from "../staircase/staircase-test.ts";
import { cpuMetrics } from "../staircase/step-metrics.ts";

const METHOD = `The broker runs on a core of its own. Real agent processes, each with a simulated cluster of 3 nodes and 20 pods, are added step by step; all have their default flags (advertisement every 30 s on the wall clock, so all in the same moment; polling every 5 s only where the broker cannot push, so here a stream). At each step, after everything has calmed down, the CPU time of the broker's process is read every second for 60 s (full run) from \`/proc/<pid>/task/*/schedstat\` (nanoseconds of all threads; \`utime\` + \`stime\` of \`/proc/<pid>/stat\` are in the raw data as well). The figure is CPU time over wall time of the whole window; the spread is that of its two intervals of 30 s. Beyond 100 no real agents are used: **1,000 and 10,000 are protocol clients in one load process**, each with a certificate, a stream and a kept connection of its own, posting every 30 s what a real agent posted; where a process may not have that many connections open, the last of them connect anew for each post, which costs the broker more. \`Clients that poll\` have no stream and ask every 5 s, as the predecessor's agents do.`;

export const brokerCpuTest = staircaseTest({
  id: "1a",
  title: "Broker CPU",
  method: METHOD,
  metrics: cpuMetrics,
  published: PREDECESSOR.brokerCpu.map(({ agents, percent }) => ({ agents, value: percent })),
  y: { label: "broker CPU", unit: "% of one core" },
  chart: "1a-broker-cpu",
  subtitle: ({ windowMs }) =>
    `Real agents at a 30 s interval, mTLS; over ${windowMs / 1000} s each; whiskers: the 30 s intervals in it`,
  slope: ({ agents, clients }) =>
    slopeNote([...agents.filter(({ count }) => count >= 10), ...clients], "this system from 10 agents on"),
  words,
});

function words({ agents }: MetricsByFleet): string[] {
  const each = perAgent(agents);
  if (each === undefined || agents.length < 3) return [];
  return [
    `A straight line through the agents' steps: ${numberText(Math.max(0, each.offset))} % for the broker alone and ${numberText(each.slope)} % for each agent (r² ${each.r2.toFixed(2)}).`,
  ];
}
