import type { Chart } from "../../charts/chart.ts";
import type { EvaluationTest, Findings } from "../../evaluation-test.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { NOTHING, withUnit } from "../../report/number-text.ts";
import { OURS, THEIRS } from "../../report/summary.ts";
import { AGENT_AT_REST, type AgentAtRest } from "../agent-at-rest/agent-at-rest.ts";
import { footprintOf, memoryOverTime } from "./results.ts";

const PUBLISHED = PREDECESSOR.agentFootprint;
const CPU_UNIT = "% of one core";

const METHOD = `The same run as 2: every 500 ms the CPU time of the agent's process from \`/proc/<pid>/task/*/schedstat\` (all threads) and its memory (\`VmRSS\`, \`RssAnon\`) from \`/proc/<pid>/status\`. "At rest" is everything after the first 15 s; the other figure has the start of the process in it. Memory is the median of the looks at rest. The agent shares the core of the load with the simulated cluster and this program.`;

export const agentFootprintTest: EvaluationTest<AgentAtRest> = {
  ...AGENT_AT_REST,
  id: "3",
  title: "Agent footprint",
  method: METHOD,
  charts: chartsOf,
  findings: findingsOf,
};

function chartsOf(result: AgentAtRest): Chart[] {
  const { rss, own } = memoryOverTime(result);
  const end = (result.samples.at(-1)?.atMs ?? 0) / 1000;
  const published = [0, end].map((x) => ({ x, y: PUBLISHED.rssMb }));
  const { restCpu, wholeCpu } = footprintOf(result);
  const cpus = [
    { x: "at rest", ...(restCpu === undefined ? {} : { y: restCpu }) },
    { x: "with the start of the process in it", ...(wholeCpu === undefined ? {} : { y: wholeCpu }) },
  ];
  return [
    {
      name: "3-agent-cpu",
      title: "CPU of an agent in a small cluster",
      subtitle: `Over ${Math.round(end)} s from the start of the process; of the predecessor one figure is published`,
      kind: "bars",
      x: { label: "", scale: "names" },
      y: { label: "agent CPU", unit: CPU_UNIT, scale: "linear" },
      series: [
        { label: OURS, style: "ours", points: cpus },
        { label: THEIRS, style: "theirs", points: cpus.map(({ x }) => ({ x, y: PUBLISHED.cpuPercent })) },
      ],
    },
    {
      name: "3-agent-memory",
      title: "Memory of an agent in a small cluster",
      subtitle: "10 nodes, 200 pods, nothing happens; of the predecessor one figure is published",
      kind: "lines",
      x: { label: "time since start", unit: "s", scale: "linear" },
      y: { label: "memory", unit: "MB", scale: "linear" },
      series: [
        { label: `${OURS}, resident`, style: "ours", points: rss },
        { label: THEIRS, style: "theirs", points: published },
        { label: "of which private", style: "third", points: own },
      ],
    },
  ];
}

function findingsOf(result: AgentAtRest): Findings {
  const { restCpu, wholeCpu, rssMb, privateMb, peakMb } = footprintOf(result);
  const cpu = {
    metric: "Agent CPU, small cluster",
    ours: withUnit(restCpu ?? wholeCpu, CPU_UNIT),
    theirs: withUnit(PUBLISHED.cpuPercent, CPU_UNIT),
    factor: factorText(restCpu ?? wholeCpu, PUBLISHED.cpuPercent),
  };
  const memory = {
    metric: "Agent memory, small cluster",
    ours: withUnit(rssMb, "MB"),
    theirs: withUnit(PUBLISHED.rssMb, "MB"),
    factor: factorText(rssMb, PUBLISHED.rssMb),
  };
  const rows = [
    ["CPU at rest", withUnit(restCpu, CPU_UNIT), cpu.theirs],
    ["CPU with the start in it", withUnit(wholeCpu, CPU_UNIT), cpu.theirs],
    ["resident memory", memory.ours, memory.theirs],
    ["of which private", withUnit(privateMb, "MB"), NOTHING],
    ["the most it had", withUnit(peakMb, "MB"), NOTHING],
  ];
  const why =
    "A Node process that does nothing has 43 MB resident, of which 7 to 9 are private: the rest is the program's file, which all agents on a machine share. It does not grow with the cluster: pods and nodes are kept as running sums, not as objects (test 10).";
  return { summary: [cpu, memory], text: `${markdownTable(["", OURS, THEIRS], rows)}\n\n${why}` };
}
