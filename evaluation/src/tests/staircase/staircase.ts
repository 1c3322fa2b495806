import { advertisementCall } from "@resource-broker/client";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { type BrokerProcess, type TestCertificates, testCertificates } from "@resource-broker/testkit";
import { type Chart, OURS, type Series, series, THEIRS } from "../../charts/chart.ts";
import { type Context, type EvaluationTest, evaluationTest, type SummaryRow } from "../../evaluation-test.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { coreShare, coreShares, type Sample } from "../../measure/sample-process.ts";
import { inScope, partOf } from "../../measure/scope.ts";
import { startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import { linearFit, logLogFit, median } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import {
  comparedRow,
  countText,
  factorText,
  numberText,
  plainRow,
  tableOf,
  withUnit,
} from "../../report/format.ts";
import { climb, type Fleet, FLEETS, fleetText, INTERVAL_MS, PLANS, secondsFor, type Step } from "./climb.ts";
import { climbWithClients } from "./measure-clients.ts";

/** The broker's CPU and memory as more and more clusters come. */
interface Staircase {
  readonly windowMs: number;
  readonly intervalMs: number;
  readonly steps: readonly Step[];
}

/** More at once would only wait for each other on the cores of the load. */
const AT_ONCE = 4;
/** A small cluster each, in which nothing happens. */
const SHAPE = { nodes: 3, pods: 20 };
const nameOf = (number: number): string => `agent-${number}`;

/** One broker for agents, one for clients, one for pollers: none has another's past in its memory. */
async function measure(context: Context): Promise<Staircase> {
  const { counts, windowMs } = PLANS[context.size];
  const all = FLEETS.reduce((sum, fleet) => sum + counts[fleet].length, 0);
  const certificates = await testCertificates();
  const steps: Step[] = [];
  const part = (fleet: Fleet): Promise<Context> => {
    const from = steps.length / all;
    return partOf(context, { name: fleet, from, to: from + counts[fleet].length / all });
  };
  const agents = await inScope(await part("agents"), (inner) => climbWithAgents(inner, certificates));
  steps.push(...agents.steps);
  for (const fleet of ["clients", "pollers"] as const) {
    if (counts[fleet].length === 0) continue;
    const options = { certificates, fleet, advertisement: agents.advertisement };
    steps.push(...(await inScope(await part(fleet), (inner) => climbWithClients(inner, options))));
  }
  return { windowMs, intervalMs: INTERVAL_MS, steps };
}

/** Real agent processes, one for each of as many simulated clusters. */
async function climbWithAgents(context: Context, certificates: TestCertificates) {
  const broker = await startMeasuredBroker(context, { certificates });
  const addCluster = startClusters(context);
  // All end at once: a hundred agents would take long one after the other.
  const agents: (() => unknown)[] = [];
  context.onCleanup(() => Promise.all(agents.map((dispose) => dispose())));
  const own: Context = { ...context, onCleanup: (end) => void agents.push(end) };
  const steps = await climb(context, broker, {
    fleet: "agents",
    atOnce: AT_ONCE,
    failures: () => 0,
    startOne: async (number) => {
      const name = nameOf(number);
      const kubeconfig = await addCluster({ name, ...SHAPE });
      await startMeasuredAgent(own, { clusterId: name, broker, certificates, kubeconfig });
    },
  });
  return { steps, advertisement: await advertisementOf(broker, nameOf(0)) };
}

/** What one of them says to the broker. */
async function advertisementOf(broker: BrokerProcess, name: string): Promise<AdvertisementDTO> {
  const { value } = await broker.api().request(advertisementCall(name));
  // What the broker itself says of a cluster is not posted.
  const { standing: _, ...advertisement } = value;
  return advertisement;
}

/** A figure of one step, with the spread of its windows. */
interface StepMetric {
  readonly count: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** A value of all looks of a step, and the values that show its spread. */
type Read = (
  samples: readonly Sample[],
  intervalMs: number,
) => { readonly value: number | undefined; readonly each: readonly number[] };

/** Percent of one core over the whole step; the spread is that of the intervals in it. */
const readCpu: Read = (samples, intervalMs) => ({
  value: coreShare(samples),
  each: coreShares(samples, intervalMs),
});

/** MB: the median of all looks. */
const readMemory =
  (of: "rssMb" | "privateMb"): Read =>
  (samples) => {
    const each = samples.map((sample) => sample[of]);
    return { value: median(each), each };
  };

function metricsOf({ steps, intervalMs }: Staircase, wanted: Fleet, read: Read): StepMetric[] {
  return steps.flatMap(({ fleet, count, samples }) => {
    const { value, each } = read(samples, intervalMs);
    if (fleet !== wanted || value === undefined) return [];
    return [{ count, value, low: Math.min(value, ...each), high: Math.max(value, ...each) }];
  });
}

type MetricsByFleet = Readonly<Record<Fleet, readonly StepMetric[]>>;
type Published = readonly { readonly agents: number; readonly value: number }[];

/** One of the things that are read from the staircase, and how it is told. */
interface Aspect {
  readonly id: string;
  readonly title: string;
  readonly method: string;
  readonly read: Read;
  readonly published: Published;
  readonly y: { readonly label: string; readonly unit: string };
  /** The first chart's name; the one with the growth is called after it. */
  readonly chart: string;
  readonly subtitle: (staircase: Staircase) => string;
  /** What else is drawn beside the figures of real agents. */
  readonly beside?: (staircase: Staircase) => Series;
  /** Which steps the slope below the chart is of, and what it is called. */
  readonly slope: { readonly least: number; readonly what: string };
  /** Sentences below the table. */
  readonly words: (by: MetricsByFleet, staircase: Staircase) => readonly string[];
}

/** They are all read from one measurement. */
function staircaseTest(aspect: Aspect): EvaluationTest {
  const { id, title, method, read, published, y, words } = aspect;
  return evaluationTest<Staircase>({
    id,
    measurement: "1a-1b",
    title,
    method,
    expectedSeconds: {
      smoke: secondsFor(PLANS.smoke),
      quick: secondsFor(PLANS.quick),
      full: secondsFor(PLANS.full),
    },
    run: measure,
    report: (staircase) => {
      const by: MetricsByFleet = {
        agents: metricsOf(staircase, "agents", read),
        clients: metricsOf(staircase, "clients", read),
        pollers: metricsOf(staircase, "pollers", read),
      };
      const rows = FLEETS.flatMap((fleet) =>
        by[fleet].map((metric) => ({ ...metric, fleet, theirs: publishedAt(published, metric.count) })),
      );
      return {
        // What must be right however fast it is: everybody was heard, nobody was turned away.
        faults: staircase.steps.flatMap(({ fleet, count, heard, failed }) => [
          heard !== count && `of ${fleetText(count, fleet)} the broker had heard ${countText(heard)} lately`,
          failed > 0 && `${countText(failed)} calls or streams of ${fleetText(count, fleet)} failed`,
        ]),
        charts: chartsOf(aspect, staircase, by),
        summary: summaryRows(aspect, by),
        text: [
          tableOf(rows, {
            "": ({ count, fleet }) => fleetText(count, fleet),
            [OURS]: ({ value }) => [value, y.unit],
            "least–most": ({ low, high }) => `${numberText(low)}–${numberText(high)}`,
            [THEIRS]: ({ theirs }) => [theirs, y.unit],
            "better by": ({ value, theirs }) => factorText(value, theirs),
          }),
          ...words(by, staircase),
        ],
      };
    },
  });
}

function publishedAt(published: Published, count: number): number | undefined {
  return published.find(({ agents }) => agents === count)?.value;
}

/** Compared at the largest number that both have figures for; pollers do exactly what the predecessor's agents do. */
function summaryRows({ title, published, y: { unit } }: Aspect, by: MetricsByFleet): SummaryRow[] {
  const compared = (["agents", "pollers"] as const).flatMap((fleet) => {
    const common = by[fleet].findLast(({ count }) => publishedAt(published, count) !== undefined);
    if (common === undefined) return [];
    const figures = [common.value, publishedAt(published, common.count)] as const;
    return [comparedRow(`${title}, ${fleetText(common.count, fleet)}`, unit, figures)];
  });
  const more = by.clients.map(({ count, value }) =>
    plainRow(`${title}, ${fleetText(count, "clients")}`, withUnit(value, unit)),
  );
  return [...compared, ...more];
}

function chartsOf(aspect: Aspect, staircase: Staircase, by: MetricsByFleet): Chart[] {
  const { title, published, y, chart, subtitle, beside, slope } = aspect;
  const theirs = published.map(({ agents, value }) => ({ x: agents, y: value }));
  // 0 has no place on logarithmic axes.
  const some = (fleet: Fleet) => pointsOf(by[fleet].filter(({ count }) => count > 0));
  const steady = [...by.agents.filter(({ count }) => count >= slope.least), ...by.clients];
  const fit = logLogFit(pointsOf(steady));
  return [
    {
      name: chart,
      title: `${title} by number of agents`,
      subtitle: subtitle(staircase),
      kind: "lines",
      x: { label: "agents", scale: "linear" },
      y: { ...y, scale: "linear" },
      series: [
        series(OURS, "ours", pointsOf(by.agents)),
        series(THEIRS, "theirs", theirs),
        ...(beside === undefined ? [] : [beside(staircase)]),
      ],
    },
    {
      name: `${chart}-growth`,
      title: `${title} from one agent to many`,
      subtitle:
        "Both axes logarithmic; protocol clients: connections of one load process that say what agents say",
      kind: "lines",
      x: { label: "agents, or protocol clients in one load process", scale: "log" },
      y: { ...y, scale: "log" },
      series: [
        series(`${OURS}, real agents`, "ours", some("agents")),
        series(THEIRS, "theirs", theirs),
        series("protocol clients", "third", some("clients")),
        series("clients that poll", "fourth", some("pollers")),
      ].filter(({ points }) => points.length > 0),
      notes:
        fit === undefined || steady.length < 3
          ? []
          : [
              `${slope.what}: slope ${fit.slope.toFixed(2)} (log-log; 1 = in proportion), r² ${fit.r2.toFixed(3)}`,
            ],
    },
  ];
}

function pointsOf(metrics: readonly StepMetric[]) {
  return metrics.map(({ count, value, low, high }) => ({ x: count, y: value, low, high }));
}

export const brokerCpuTest = staircaseTest({
  id: "1a",
  title: "Broker CPU",
  method: `The broker runs on a core of its own. Real agent processes, each with a simulated cluster of 3 nodes and 20 pods, are added step by step; all have their default flags (advertisement every 30 s on the wall clock, so all in the same moment; polling every 5 s only where the broker cannot push, so here a stream). At each step, after everything has calmed down, the CPU time of the broker's process is read every second for 60 s (full run) from \`/proc/<pid>/task/*/schedstat\` (nanoseconds of all threads; \`utime\` + \`stime\` of \`/proc/<pid>/stat\` are in the raw data as well). The figure is CPU time over wall time of the whole window; the spread is that of its two intervals of 30 s. Beyond 100 no real agents are used: **1,000 and 10,000 are protocol clients in one load process**, each with a certificate, a stream and a kept connection of its own, posting every 30 s what a real agent posted; where a process may not have that many connections open, the last of them connect anew for each post, which costs the broker more. \`Clients that poll\` have no stream and ask every 5 s, as the predecessor's agents do.`,
  read: readCpu,
  published: PREDECESSOR.brokerCpu.map(({ agents, percent }) => ({ agents, value: percent })),
  y: { label: "broker CPU", unit: "% of one core" },
  chart: "1a-broker-cpu",
  subtitle: ({ windowMs }) =>
    `Real agents at a 30 s interval, mTLS; over ${windowMs / 1000} s each; whiskers: the 30 s intervals in it`,
  slope: { least: 10, what: "this system from 10 agents on" },
  words: ({ agents }) => {
    const each = linearFit(pointsOf(agents));
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
  read: readMemory("rssMb"),
  published: PREDECESSOR.brokerMemory.map(({ agents, mb }) => ({ agents, value: mb })),
  y: { label: "resident memory", unit: "MB" },
  chart: "1b-broker-memory",
  subtitle: () => "Resident memory (RSS) with real agents connected; whiskers: least and most of the window",
  beside: (staircase) =>
    series("of which private", "third", pointsOf(metricsOf(staircase, "agents", readMemory("privateMb")))),
  slope: { least: 1, what: "this system" },
  words: ({ agents, clients }, staircase) => {
    const own = metricsOf(staircase, "agents", readMemory("privateMb")).at(-1);
    const why = `A Node process that does nothing is 43 MB already, most of it the program's file; a Go process that does nothing is a few. That is the price of the runtime, paid once${own === undefined ? "" : `: of the memory with ${own.count} agents ${numberText(own.value)} MB are private`}.`;
    const each = linearFit(pointsOf([...agents, ...clients]));
    if (each === undefined || clients.length === 0 || agents.length < 2) return [why];
    return [
      why,
      `Each connected cluster adds ${numberText(1000 * each.slope)} kB (a straight line through all steps): two TLS connections and what is known of the cluster.`,
    ];
  },
});
