import { PREDECESSOR } from "../../predecessor.ts";
import { numberText } from "../../report/format.ts";
import { oursSeries, perAgent, slopeNote, staircaseTest } from "./staircase-test.ts";
import { cpuMetrics, memoryMetrics } from "./step-metrics.ts";

export const brokerCpuTest = staircaseTest({
  id: "1a",
  title: "Broker CPU",
  method: `The broker runs on a core of its own. Real agent processes, each with a simulated cluster of 3 nodes and 20 pods, are added step by step; all have their default flags (advertisement every 30 s on the wall clock, so all in the same moment; polling every 5 s only where the broker cannot push, so here a stream). At each step, after everything has calmed down, the CPU time of the broker's process is read every second for 60 s (full run) from \`/proc/<pid>/task/*/schedstat\` (nanoseconds of all threads; \`utime\` + \`stime\` of \`/proc/<pid>/stat\` are in the raw data as well). The figure is CPU time over wall time of the whole window; the spread is that of its two intervals of 30 s. Beyond 100 no real agents are used: **1,000 and 10,000 are protocol clients in one load process**, each with a certificate, a stream and a kept connection of its own, posting every 30 s what a real agent posted; where a process may not have that many connections open, the last of them connect anew for each post, which costs the broker more. \`Clients that poll\` have no stream and ask every 5 s, as the predecessor's agents do.`,
  metrics: cpuMetrics,
  published: PREDECESSOR.brokerCpu.map(({ agents, percent }) => ({ agents, value: percent })),
  y: { label: "broker CPU", unit: "% of one core" },
  chart: "1a-broker-cpu",
  subtitle: ({ windowMs }) =>
    `Real agents at a 30 s interval, mTLS; over ${windowMs / 1000} s each; whiskers: the 30 s intervals in it`,
  slope: ({ agents, clients }) =>
    slopeNote([...agents.filter(({ count }) => count >= 10), ...clients], "this system from 10 agents on"),
  words: ({ agents }) => {
    const each = perAgent(agents);
    if (each === undefined || agents.length < 3) return [];
    return [
      `A straight line through the agents' steps: ${numberText(Math.max(0, each.offset))} % for the broker alone and ${numberText(each.slope)} % for each agent (r² ${each.r2.toFixed(2)}).`,
    ];
  },
});

export const brokerMemoryTest = staircaseTest({
  id: "1b",
  title: "Broker memory",
  method: `The same run as 1a: \`VmRSS\` of \`/proc/<pid>/status\` of the broker's process, in MB of 10⁶ bytes, every second; the figure is the median of the window, the spread its least and most. Private memory is \`RssAnon\` of the same file: heap, stacks and buffers without the program's file, which is mapped and can be shared. Whether the predecessor counted in 10⁶ or 2²⁰ bytes was not published: in the second case its figures are 5 % higher than they look here.`,
  metrics: memoryMetrics,
  published: PREDECESSOR.brokerMemory.map(({ agents, mb }) => ({ agents, value: mb })),
  y: { label: "resident memory", unit: "MB" },
  chart: "1b-broker-memory",
  subtitle: () => "Resident memory (RSS) with real agents connected; whiskers: least and most of the window",
  beside: (staircase) => [
    oursSeries(memoryMetrics(staircase, "agents", "privateMb"), "of which private", "third"),
  ],
  slope: ({ agents, clients }) =>
    slopeNote([...agents.filter(({ count }) => count > 0), ...clients], "this system"),
  words: ({ agents, clients }, staircase) => {
    const own = memoryMetrics(staircase, "agents", "privateMb").at(-1);
    const why = `A Node process that does nothing is 43 MB already, most of it the program's file; a Go process that does nothing is a few. That is the price of the runtime, paid once${own === undefined ? "" : `: of the memory with ${own.count} agents ${numberText(own.value)} MB are private`}.`;
    const each = perAgent([...agents, ...clients]);
    if (each === undefined || clients.length === 0 || agents.length < 2) return [why];
    return [
      why,
      `Each connected cluster adds ${numberText(1000 * each.slope)} kB (a straight line through all steps): two TLS connections and what is known of the cluster.`,
    ];
  },
});
