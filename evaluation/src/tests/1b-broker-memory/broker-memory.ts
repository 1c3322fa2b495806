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
import type { Staircase } from "../staircase/staircase.ts";
import { memoryFigures, staircaseFaults } from "../staircase/step-figures.ts";

const PUBLISHED = PREDECESSOR.brokerMemory.map(({ agents, mb }) => ({ agents, value: mb }));
const UNIT = "MB";

const METHOD = `The same run as 1a: \`VmRSS\` of \`/proc/<pid>/status\` of the broker's process, in MB of 10⁶ bytes, every second; the figure is the median of the window, the spread its least and most. Private memory is \`RssAnon\` of the same file: heap, stacks and buffers without the program's file, which is mapped and can be shared. Whether the predecessor counted in 10⁶ or 2²⁰ bytes was not published: in the second case its figures are 5 % higher than they look here.`;

export const brokerMemoryTest: EvaluationTest<Staircase> = {
  id: "1b",
  title: "Broker memory",
  method: METHOD,
  // With 1a before it there is nothing left to measure.
  expectedSeconds: () => 1,
  run: (context) => staircaseOf(context, "1a"),
  faults: staircaseFaults,
  charts: chartsOf,
  findings: findingsOf,
};

function figuresOf(staircase: Staircase): FiguresByFleet {
  return {
    agents: memoryFigures(staircase, "agents"),
    clients: memoryFigures(staircase, "clients"),
    pollers: memoryFigures(staircase, "pollers"),
  };
}

function chartsOf(staircase: Staircase): Chart[] {
  const by = figuresOf(staircase);
  const y = { label: "resident memory", unit: UNIT } as const;
  const ownMemory = oursSeries(memoryFigures(staircase, "agents", "privateMb"), "of which private", "third");
  return [
    {
      name: "1b-broker-memory",
      title: "Broker memory by number of agents",
      subtitle: "Resident memory (RSS) with real agents connected; whiskers: least and most of the window",
      kind: "lines",
      x: AGENTS_AXIS,
      y: { ...y, scale: "linear" },
      series: [oursSeries(by.agents), theirsSeries(PUBLISHED), ownMemory],
    },
    {
      name: "1b-broker-memory-growth",
      title: "Broker memory from one agent to many",
      subtitle:
        "Both axes logarithmic; protocol clients: connections of one load process that say what agents say",
      kind: "lines",
      x: CLUSTERS_AXIS,
      y: { ...y, scale: "log" },
      series: growthSeries(by, PUBLISHED),
      notes: slopeNote([...by.agents.filter(({ count }) => count > 0), ...by.clients], "this system"),
    },
  ];
}

function findingsOf(staircase: Staircase): Findings {
  const by = figuresOf(staircase);
  const own = memoryFigures(staircase, "agents", "privateMb").at(-1);
  const each = perAgent([...by.agents, ...by.clients]);
  const why = `A Node process that does nothing is 43 MB already, most of it the program's file; a Go process that does nothing is a few. That is the price of the runtime, paid once${own === undefined ? "" : `: of the memory with ${own.count} agents ${numberText(own.value)} MB are private`}.`;
  const slope =
    each === undefined || by.clients.length === 0 || by.agents.length < 2
      ? ""
      : `Each connected cluster adds ${numberText(1000 * each.slope)} kB (a straight line through all steps): two TLS connections and what is known of the cluster.`;
  return {
    summary: summaryRows(by, PUBLISHED, { figure: "Broker memory", unit: UNIT }),
    text: [stepsTable(by, PUBLISHED, UNIT), why, slope].filter((part) => part !== "").join("\n\n"),
  };
}
