import type { Chart } from "../../charts/chart.ts";
import type { EvaluationTest, Findings } from "../../evaluation-test.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { numberText } from "../../report/number-text.ts";
import { staircaseOf } from "../staircase/measure-staircase.ts";
import {
  AGENTS_AXIS,
  CLUSTERS_AXIS,
  type FiguresByFleet,
  growthSeries,
  oursSeries,
  perAgent,
  slopeNote,
  stepsTable,
  summaryRows,
  theirsSeries,
} from "../staircase/show-staircase.ts";
import { expectedSeconds, type Staircase } from "../staircase/staircase.ts";
import { cpuFigures, staircaseFaults } from "../staircase/step-figures.ts";

const PUBLISHED = PREDECESSOR.brokerCpu.map(({ agents, percent }) => ({ agents, value: percent }));
const UNIT = "% of one core";

const METHOD = `The broker runs on a core of its own. Real agent processes, each with a simulated cluster of 3 nodes and 20 pods, are added step by step; all have their default flags (advertisement every 30 s on the wall clock, so all in the same moment; polling every 5 s only where the broker cannot push, so here a stream). At each step, after everything has calmed down, the CPU time of the broker's process is read every second for 60 s (full run) from \`/proc/<pid>/task/*/schedstat\` (nanoseconds of all threads; \`utime\` + \`stime\` of \`/proc/<pid>/stat\` are in the raw data as well). The figure is CPU time over wall time of the whole window; the spread is that of its two intervals of 30 s. Beyond 100 no real agents are used: **1,000 and 10,000 are protocol clients in one load process**, each with a certificate, a stream and a kept connection of its own, posting every 30 s what a real agent posted; where a process may not have that many connections open, the last of them connect anew for each post, which costs the broker more. \`Clients that poll\` have no stream and ask every 5 s, as the predecessor's agents do.`;

export const brokerCpuTest: EvaluationTest<Staircase> = {
  id: "1a",
  title: "Broker CPU",
  method: METHOD,
  expectedSeconds,
  run: (context) => staircaseOf(context, "1b"),
  faults: staircaseFaults,
  charts: chartsOf,
  findings: findingsOf,
};

function figuresOf(staircase: Staircase): FiguresByFleet {
  return {
    agents: cpuFigures(staircase, "agents"),
    clients: cpuFigures(staircase, "clients"),
    pollers: cpuFigures(staircase, "pollers"),
  };
}

function chartsOf(staircase: Staircase): Chart[] {
  const by = figuresOf(staircase);
  const y = { label: "broker CPU", unit: UNIT } as const;
  return [
    {
      name: "1a-broker-cpu",
      title: "Broker CPU by number of agents",
      subtitle: `Real agents at a 30 s interval, mTLS; over ${staircase.windowMs / 1000} s each; whiskers: the 30 s intervals in it`,
      kind: "lines",
      x: AGENTS_AXIS,
      y: { ...y, scale: "linear" },
      series: [oursSeries(by.agents), theirsSeries(PUBLISHED)],
    },
    {
      name: "1a-broker-cpu-growth",
      title: "Broker CPU from one agent to many",
      subtitle:
        "Both axes logarithmic; protocol clients: connections of one load process that say what agents say",
      kind: "lines",
      x: CLUSTERS_AXIS,
      y: { ...y, scale: "log" },
      series: growthSeries(by, PUBLISHED),
      notes: slopeNote(
        [...by.agents.filter(({ count }) => count >= 10), ...by.clients],
        "this system from 10 agents on",
      ),
    },
  ];
}

function findingsOf(staircase: Staircase): Findings {
  const by = figuresOf(staircase);
  const each = perAgent(by.agents);
  const sentence =
    each === undefined || by.agents.length < 3
      ? ""
      : `A straight line through the agents' steps: ${numberText(Math.max(0, each.offset))} % for the broker alone and ${numberText(each.slope)} % for each agent (r² ${each.r2.toFixed(2)}).`;
  return {
    summary: summaryRows(by, PUBLISHED, { figure: "Broker CPU", unit: UNIT }),
    text: [stepsTable(by, PUBLISHED, UNIT), sentence].filter((part) => part !== "").join("\n\n"),
  };
}
