import { PREDECESSOR } from "../../predecessor.ts";
import { numberText } from "../../report/number-text.ts";
import { type MetricsByFleet, oursSeries, perAgent, slopeNote } from "../staircase/show-staircase.ts";
import type { Staircase } from "../staircase/staircase.ts";
import { staircaseTest } from "../staircase/staircase-test.ts";
import { memoryMetrics, type StepMetric } from "../staircase/step-metrics.ts";

const METHOD = `The same run as 1a: \`VmRSS\` of \`/proc/<pid>/status\` of the broker's process, in MB of 10⁶ bytes, every second; the figure is the median of the window, the spread its least and most. Private memory is \`RssAnon\` of the same file: heap, stacks and buffers without the program's file, which is mapped and can be shared. Whether the predecessor counted in 10⁶ or 2²⁰ bytes was not published: in the second case its figures are 5 % higher than they look here.`;

export const brokerMemoryTest = staircaseTest({
  id: "1b",
  title: "Broker memory",
  method: METHOD,
  metrics: memoryMetrics,
  published: PREDECESSOR.brokerMemory.map(({ agents, mb }) => ({ agents, value: mb })),
  y: { label: "resident memory", unit: "MB" },
  chart: "1b-broker-memory",
  subtitle: () => "Resident memory (RSS) with real agents connected; whiskers: least and most of the window",
  beside: (staircase) => [oursSeries(privateMemory(staircase), "of which private", "third")],
  slope: ({ agents, clients }) =>
    slopeNote([...agents.filter(({ count }) => count > 0), ...clients], "this system"),
  words,
});

function privateMemory(staircase: Staircase): StepMetric[] {
  return memoryMetrics(staircase, "agents", "privateMb");
}

function words({ agents, clients }: MetricsByFleet, staircase: Staircase): string[] {
  const own = privateMemory(staircase).at(-1);
  const why = `A Node process that does nothing is 43 MB already, most of it the program's file; a Go process that does nothing is a few. That is the price of the runtime, paid once${own === undefined ? "" : `: of the memory with ${own.count} agents ${numberText(own.value)} MB are private`}.`;
  const each = perAgent([...agents, ...clients]);
  if (each === undefined || clients.length === 0 || agents.length < 2) return [why];
  return [
    why,
    `Each connected cluster adds ${numberText(1000 * each.slope)} kB (a straight line through all steps): two TLS connections and what is known of the cluster.`,
  ];
}
