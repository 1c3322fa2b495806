import { startFaultyProxy, testCertificates } from "@resource-broker/testkit";
import { type Chart, OURS, series, THEIRS } from "../charts/chart.ts";
import { type BySize, type Context, evaluationTest, type Line, type Size } from "../evaluation-test.ts";
import { lookUntil } from "../measure/async.ts";
import { startClusters } from "../measure/clusters/start-clusters.ts";
import { coreShare, type Sample, sampleProcess } from "../measure/sample-process.ts";
import { pidOf, startMeasuredAgent, startMeasuredBroker } from "../measure/start-programs.ts";
import { median } from "../measure/statistics.ts";
import { PREDECESSOR } from "../predecessor.ts";
import { comparedRow, countText, markdownTable, NOTHING, withUnit } from "../report/format.ts";
import { countFreshClusters } from "./staircase/climb.ts";

/** A look at an agent, and at the wire between it and the broker. */
interface AgentSample extends Sample {
  /** Since it started, on all its connections; TLS included, the headers of TCP and IP not. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** An agent from the start of its process on. */
interface AgentAtRest {
  readonly forMs: number;
  readonly nodes: number;
  readonly pods: number;
  readonly samples: readonly AgentSample[];
  /** How many connections it has made to the broker. */
  readonly connections: number;
  /** How many clusters the broker had heard lately, in the end: one. */
  readonly heard: number;
}

const FOR_MS: BySize<number> = { smoke: 3_000, quick: 45_000, full: 300_000 };
const SAMPLE_EVERY_MS = 500;
const HEARD_WITHIN_MS = 60_000;
const SHAPE = { name: "resting", nodes: 10, pods: 200 };

async function measure(context: Context): Promise<AgentAtRest> {
  const { size, signal, progress } = context;
  const forMs = FOR_MS[size];
  const certificates = await testCertificates();
  const broker = await startMeasuredBroker(context, { certificates });
  const kubeconfig = await startClusters(context)(SHAPE);
  const proxy = await startFaultyProxy(broker);
  context.onCleanup(proxy.close);
  // Nobody asks whether it is ready: its answers would be measured with it.
  const options = { clusterId: SHAPE.name, broker: proxy, certificates, kubeconfig, waits: false };
  const agent = await startMeasuredAgent(context, options);
  const samples: AgentSample[] = [];
  await sampleProcess(pidOf(agent), {
    everyMs: SAMPLE_EVERY_MS,
    forMs,
    signal,
    onSample: (sample) => {
      const { sent, received } = proxy.bytes();
      samples.push({ ...sample, sentBytes: sent, receivedBytes: received });
      progress(sample.atMs / forMs, "one agent in a small cluster");
    },
  });
  const { nodes, pods } = SHAPE;
  // A short run on a busy machine may end before the agent has started: that is no failure.
  const looks = { everyMs: SAMPLE_EVERY_MS, withinMs: HEARD_WITHIN_MS, signal };
  const heard = await lookUntil(looks, async () => (await countFreshClusters(broker)) || undefined);
  return { forMs, nodes, pods, samples, connections: proxy.connections().made, heard: heard ?? 0 };
}

const secondsOf = (size: Size): number => FOR_MS[size] / 1000 + 3;

/** Traffic and footprint of the same agent, told apart in the report. */
const AT_REST = {
  measurement: "2-3",
  expectedSeconds: { smoke: secondsOf("smoke"), quick: secondsOf("quick"), full: secondsOf("full") },
  run: measure,
};

/** The agent must have been there. */
const faultsOf = ({ heard }: AgentAtRest): Line[] => [
  heard !== 1 && `the broker had heard ${heard} clusters lately instead of one`,
];

/** Within this the agent starts, connects and tells the broker everything for the first time. */
const FIRST_MS = 30_000;
/** Shorter than an interval, there may be an advertisement in it, or none. */
const LEAST_SECONDS = 29;
/** A line of a thousand points says no more. */
const MOST_POINTS = 300;
const TRAFFIC = PREDECESSOR.agentBandwidth;

function bandwidthChart({ samples }: AgentAtRest): Chart {
  const step = Math.ceil(samples.length / MOST_POINTS);
  const shown = samples.filter((_, at) => at % step === 0);
  const sent = shown.map(({ atMs, sentBytes }) => ({ x: atMs / 1000, y: sentBytes / 1000 }));
  const published = [
    { x: 30, y: TRAFFIC.first30sBytes / 1000 },
    { x: TRAFFIC.seconds, y: TRAFFIC.bytes / 1000 },
  ];
  return {
    name: "2-agent-bandwidth",
    title: "What an agent has sent to the broker",
    subtitle:
      "Sum since the start of the agent, TLS included; 30 s interval. Of the predecessor two sums are published",
    kind: "lines",
    x: { label: "time since start", unit: "s", scale: "linear" },
    y: { label: "sent", unit: "kB", scale: "linear" },
    series: [series(OURS, "ours", sent), series(THEIRS, "theirs", published)],
  };
}

export const agentBandwidthTest = evaluationTest<AgentAtRest>({
  ...AT_REST,
  id: "2",
  title: "Agent bandwidth",
  method: `One agent with its default flags in a small cluster (10 nodes, 200 pods) where nothing happens, for 5 minutes (full run) from the start of its process. Between agent and broker stands a TCP proxy that counts the bytes of both directions on all connections, read every 500 ms: TLS handshakes and records are counted, headers of TCP and IP are not (how the predecessor counted was not published). Traffic between the agent and its own cluster's API server is not counted.`,
  report: (result) => {
    const { samples, connections } = result;
    const [faults, charts] = [faultsOf(result), [bandwidthChart(result)]];
    const last = samples.at(-1);
    if (last === undefined || last.atMs === 0) return { faults, charts, text: [] };
    const seconds = last.atMs / 1000;
    const first = samples.findLast(({ atMs }) => atMs <= FIRST_MS * 1.01) ?? last;
    const after = seconds - first.atMs / 1000;
    const later = after < LEAST_SECONDS ? undefined : (last.sentBytes - first.sentBytes) / after;
    // From the two sums that are published.
    const theirLater = (TRAFFIC.bytes - TRAFFIC.first30sBytes) / (TRAFFIC.seconds - 30);
    const rate = comparedRow("Agent → broker traffic", "B/s", [
      last.sentBytes / seconds,
      TRAFFIC.bytesPerSecond,
    ]);
    const bytes = (count: number): string => `${countText(count)} B`;
    const theirSum = seconds >= TRAFFIC.seconds * 0.99 ? bytes(TRAFFIC.bytes) : NOTHING;
    const rows = [
      [`sent in ${countText(Math.round(seconds))} s`, bytes(last.sentBytes), theirSum],
      ["sent per second", rate.ours, rate.theirs],
      ["sent in the first 30 s", bytes(first.sentBytes), bytes(TRAFFIC.first30sBytes)],
      ["sent per second after that", withUnit(later, "B/s"), withUnit(theirLater, "B/s")],
      ["received per second", withUnit(last.receivedBytes / seconds, "B/s"), NOTHING],
      ["connections made", countText(connections), NOTHING],
    ];
    return { faults, charts, summary: [rate], text: [markdownTable(["", OURS, THEIRS], rows)] };
  },
});

/** After that the agent has started, connected and told everything once. */
const STARTED_MS = 15_000;
const CPU_UNIT = "% of one core";
const FOOTPRINT = PREDECESSOR.agentFootprint;

/** CPU is undefined where it was not watched for long enough. `wholeCpu` has the start of the process in it. */
function footprintOf({ samples }: AgentAtRest) {
  const atRest = samples.filter(({ atMs }) => atMs >= STARTED_MS);
  const settled = atRest.length > 1 ? atRest : samples.slice(Math.floor(samples.length / 2));
  const last = samples.at(-1);
  return {
    restCpu: coreShare(atRest),
    wholeCpu: last === undefined || last.atMs === 0 ? undefined : (100 * last.cpuMs) / last.atMs,
    rssMb: median(settled.map(({ rssMb }) => rssMb)),
    privateMb: median(settled.map(({ privateMb }) => privateMb)),
    peakMb: samples.length === 0 ? undefined : Math.max(...samples.map(({ rssMb }) => rssMb)),
  };
}

function footprintCharts(result: AgentAtRest): Chart[] {
  const { samples } = result;
  const { restCpu, wholeCpu } = footprintOf(result);
  const end = (samples.at(-1)?.atMs ?? 0) / 1000;
  const overTime = (of: "rssMb" | "privateMb") =>
    samples.map((sample) => ({ x: sample.atMs / 1000, y: sample[of] }));
  const cpus = [
    { x: "at rest", ...(restCpu === undefined ? {} : { y: restCpu }) },
    { x: "with the start of the process in it", ...(wholeCpu === undefined ? {} : { y: wholeCpu }) },
  ];
  const theirCpus = cpus.map(({ x }) => ({ x, y: FOOTPRINT.cpuPercent }));
  const theirMemory = [0, end].map((x) => ({ x, y: FOOTPRINT.rssMb }));
  return [
    {
      name: "3-agent-cpu",
      title: "CPU of an agent in a small cluster",
      subtitle: `Over ${Math.round(end)} s from the start of the process; of the predecessor one figure is published`,
      kind: "bars",
      x: { label: "", scale: "names" },
      y: { label: "agent CPU", unit: CPU_UNIT, scale: "linear" },
      series: [series(OURS, "ours", cpus), series(THEIRS, "theirs", theirCpus)],
    },
    {
      name: "3-agent-memory",
      title: "Memory of an agent in a small cluster",
      subtitle: "10 nodes, 200 pods, nothing happens; of the predecessor one figure is published",
      kind: "lines",
      x: { label: "time since start", unit: "s", scale: "linear" },
      y: { label: "memory", unit: "MB", scale: "linear" },
      series: [
        series(`${OURS}, resident`, "ours", overTime("rssMb")),
        series(THEIRS, "theirs", theirMemory),
        series("of which private", "third", overTime("privateMb")),
      ],
    },
  ];
}

export const agentFootprintTest = evaluationTest<AgentAtRest>({
  ...AT_REST,
  id: "3",
  title: "Agent footprint",
  method: `The same run as 2: every 500 ms the CPU time of the agent's process from \`/proc/<pid>/task/*/schedstat\` (all threads) and its memory (\`VmRSS\`, \`RssAnon\`) from \`/proc/<pid>/status\`. "At rest" is everything after the first 15 s; the other figure has the start of the process in it. Memory is the median of the looks at rest. The agent shares the core of the load with the simulated cluster and this program.`,
  report: (result) => {
    const { restCpu, wholeCpu, rssMb, privateMb, peakMb } = footprintOf(result);
    const cpu = comparedRow("Agent CPU, small cluster", CPU_UNIT, [
      restCpu ?? wholeCpu,
      FOOTPRINT.cpuPercent,
    ]);
    const memory = comparedRow("Agent memory, small cluster", "MB", [rssMb, FOOTPRINT.rssMb]);
    const rows = [
      ["CPU at rest", withUnit(restCpu, CPU_UNIT), cpu.theirs],
      ["CPU with the start in it", withUnit(wholeCpu, CPU_UNIT), cpu.theirs],
      ["resident memory", memory.ours, memory.theirs],
      ["of which private", withUnit(privateMb, "MB"), NOTHING],
      ["the most it had", withUnit(peakMb, "MB"), NOTHING],
    ];
    return {
      faults: faultsOf(result),
      charts: footprintCharts(result),
      summary: [cpu, memory],
      text: [
        markdownTable(["", OURS, THEIRS], rows),
        "A Node process that does nothing has 43 MB resident, of which 7 to 9 are private: the rest is the program's file, which all agents on a machine share. It does not grow with the cluster: pods and nodes are kept as running sums, not as objects (test 10).",
      ],
    };
  },
});
