import { join } from "node:path";
import { advertisementCall } from "@resource-broker/client";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { type BrokerProcess, type TestCertificates, testCertificates } from "@resource-broker/testkit";
import type { Axis, Chart, Series } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings, SummaryRow } from "../../evaluation-test.ts";
import { inParallel, withCleanup } from "../../measure/async.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import { type Fit, linearFit, logLogFit } from "../../measure/statistics.ts";
import {
  comparedRow,
  factorText,
  markdownTable,
  numberText,
  plainRow,
  withUnit,
} from "../../report/format.ts";
import { OURS, THEIRS } from "../../report/report.ts";
import { measureClients } from "./measure-clients.ts";
import {
  expectedSeconds,
  type Fleet,
  fleetText,
  INTERVAL_MS,
  PLANS,
  type Staircase,
  staircaseFaults,
  type Step,
  type StepContext,
  type StepMetric,
  watchStep,
} from "./step-metrics.ts";

type Published = readonly { readonly agents: number; readonly value: number }[];
export type MetricsByFleet = Readonly<Record<Fleet, readonly StepMetric[]>>;

const AGENTS_AXIS: Axis = { label: "agents", scale: "linear" };
const CLUSTERS_AXIS: Axis = { label: "agents, or protocol clients in one load process", scale: "log" };

export function oursSeries(
  metrics: readonly StepMetric[],
  label = OURS,
  style: Series["style"] = "ours",
): Series {
  return {
    label,
    style,
    points: metrics.map(({ count, value, low, high }) => ({ x: count, y: value, low, high })),
  };
}

function theirsSeries(published: Published): Series {
  return {
    label: THEIRS,
    style: "theirs",
    points: published.map(({ agents, value }) => ({ x: agents, y: value })),
  };
}

/** Everything there is, for a chart with logarithmic axes: 0 has no place on it. */
function growthSeries(by: MetricsByFleet, published: Published): Series[] {
  const some = (metrics: readonly StepMetric[]): StepMetric[] => metrics.filter(({ count }) => count > 0);
  return [
    oursSeries(some(by.agents), `${OURS}, real agents`),
    theirsSeries(published),
    oursSeries(some(by.clients), "protocol clients", "third"),
    oursSeries(some(by.pollers), "clients that poll", "fourth"),
  ].filter(({ points }) => points.length > 0);
}

/** Compared at the largest number that both have figures for; pollers do exactly what the predecessor's agents do. */
function summaryRows(
  by: MetricsByFleet,
  published: Published,
  { metric, unit }: { readonly metric: string; readonly unit: string },
): SummaryRow[] {
  const compared = (["agents", "pollers"] as const).flatMap((fleet) => {
    const common = by[fleet].findLast(({ count }) => publishedAt(published, count) !== undefined);
    if (common === undefined) return [];
    const figures = [common.value, publishedAt(published, common.count)] as const;
    return [comparedRow(`${metric}, ${fleetText(common.count, fleet)}`, unit, figures)];
  });
  const more = by.clients.map(({ count, value }) =>
    plainRow(`${metric}, ${fleetText(count, "clients")}`, withUnit(value, unit)),
  );
  return [...compared, ...more];
}

function publishedAt(published: Published, count: number): number | undefined {
  return published.find(({ agents }) => agents === count)?.value;
}

function stepsTable(by: MetricsByFleet, published: Published, unit: string): string {
  const fleets: readonly Fleet[] = ["agents", "clients", "pollers"];
  const rows = fleets.flatMap((fleet) =>
    by[fleet].map(({ count, value, low, high }) => {
      const theirs = publishedAt(published, count);
      return [
        fleetText(count, fleet),
        withUnit(value, unit),
        `${numberText(low)}–${numberText(high)}`,
        withUnit(theirs, unit),
        factorText(value, theirs),
      ];
    }),
  );
  return markdownTable(["", OURS, "least–most", THEIRS, "better by"], rows);
}

/** How cost grows with agents, as a sentence for the chart. */
export function slopeNote(metrics: readonly StepMetric[], what: string): string[] {
  const fit = logLogFit(pointsOf(metrics));
  return fit === undefined || metrics.length < 3
    ? []
    : [`${what}: slope ${fit.slope.toFixed(2)} (log-log; 1 = in proportion), r² ${fit.r2.toFixed(3)}`];
}

/** What each agent adds. */
export function perAgent(metrics: readonly StepMetric[]): Fit | undefined {
  return linearFit(pointsOf(metrics));
}

function pointsOf(metrics: readonly StepMetric[]): { readonly x: number; readonly y: number }[] {
  return metrics.map(({ count, value }) => ({ x: count, y: value }));
}

/** More at once would only wait for each other on the cores of the load. */
const AT_ONCE = 4;
/** A small cluster each, in which nothing happens. */
const SHAPE = { nodes: 3, pods: 20 };

/** Real agent processes, one for each of as many simulated clusters; more and more of them on one broker. */
function measureAgents(
  context: Context,
  certificates: TestCertificates,
  stepContext: StepContext,
): Promise<AgentSteps> {
  return withCleanup(async (onCleanup) => {
    const directory = join(context.folder, "broker-agents");
    const broker = await startMeasuredBroker(context, { certificates, directory });
    onCleanup(broker.dispose);
    const clusters = startClusters();
    onCleanup(clusters.stop);
    const agents: (() => Promise<void>)[] = [];
    onCleanup(() => Promise.all(agents.map((dispose) => dispose())));

    const startOne = async (number: number): Promise<void> => {
      const name = nameOf(number);
      const kubeconfig = await clusters.add({ name, ...SHAPE });
      const agent = await startMeasuredAgent(context, { clusterId: name, broker, certificates, kubeconfig });
      agents.push(agent.dispose);
    };
    const growTo = (count: number): Promise<void> => {
      const known = agents.length;
      const growth = { count: count - known, atOnce: AT_ONCE, signal: context.signal };
      return inParallel(growth, (number) => startOne(known + number));
    };

    const steps: Step[] = [];
    for (const count of stepContext.plan.counts.agents) {
      stepContext.onActivity(`starting agents, up to ${count}`);
      await growTo(count);
      steps.push(
        await watchStep(context, broker, { stepContext, fleet: "agents", count, failures: () => 0 }),
      );
    }
    return { steps, advertisement: await advertisementOf(broker, nameOf(0)) };
  });
}

interface AgentSteps {
  readonly steps: readonly Step[];
  /** What one of them says to the broker. */
  readonly advertisement: AdvertisementDTO;
}

const nameOf = (number: number): string => `agent-${number}`;

async function advertisementOf(broker: BrokerProcess, name: string): Promise<AdvertisementDTO> {
  const { value } = await broker.api().request(advertisementCall(name));
  // What the broker itself says of a cluster is not posted.
  const { standing: _, ...advertisement } = value;
  return advertisement;
}

/** One of the things that are read from the staircase, and how it is told. */
export interface Aspect extends Pick<EvaluationTest<Staircase>, "id" | "title" | "method"> {
  readonly metrics: (staircase: Staircase, fleet: Fleet) => readonly StepMetric[];
  readonly published: Published;
  readonly y: { readonly label: string; readonly unit: string };
  /** The first chart's name; the one with the growth is called after it. */
  readonly chart: string;
  readonly subtitle: (staircase: Staircase) => string;
  /** What else is drawn beside the figures of real agents. */
  readonly beside?: (staircase: Staircase) => readonly Series[];
  readonly slope: (by: MetricsByFleet) => readonly string[];
  /** Sentences below the table. */
  readonly words: (by: MetricsByFleet, staircase: Staircase) => readonly string[];
}

/** They are all read from one measurement. */
export function staircaseTest(aspect: Aspect): EvaluationTest<Staircase> {
  const { id, title, method, metrics } = aspect;
  const byFleet = (staircase: Staircase): MetricsByFleet => ({
    agents: metrics(staircase, "agents"),
    clients: metrics(staircase, "clients"),
    pollers: metrics(staircase, "pollers"),
  });
  return {
    id,
    measurement: "1a-1b",
    title,
    method,
    expectedSeconds,
    run: measureStaircase,
    faults: staircaseFaults,
    charts: (staircase) => chartsOf(aspect, staircase, byFleet(staircase)),
    findings: (staircase) => findingsOf(aspect, staircase, byFleet(staircase)),
  };
}

function chartsOf(aspect: Aspect, staircase: Staircase, by: MetricsByFleet): Chart[] {
  const { title, published, y, chart, subtitle, beside, slope } = aspect;
  return [
    {
      name: chart,
      title: `${title} by number of agents`,
      subtitle: subtitle(staircase),
      kind: "lines",
      x: AGENTS_AXIS,
      y: { ...y, scale: "linear" },
      series: [oursSeries(by.agents), theirsSeries(published), ...(beside?.(staircase) ?? [])],
    },
    {
      name: `${chart}-growth`,
      title: `${title} from one agent to many`,
      subtitle:
        "Both axes logarithmic; protocol clients: connections of one load process that say what agents say",
      kind: "lines",
      x: CLUSTERS_AXIS,
      y: { ...y, scale: "log" },
      series: growthSeries(by, published),
      notes: slope(by),
    },
  ];
}

function findingsOf(
  { title, published, y: { unit }, words }: Aspect,
  staircase: Staircase,
  by: MetricsByFleet,
): Findings {
  return {
    summary: summaryRows(by, published, { metric: title, unit }),
    text: [stepsTable(by, published, unit), ...words(by, staircase)].join("\n\n"),
  };
}

/** One broker for agents, one for clients, one for pollers: none has another's past in its memory. */
async function measureStaircase(context: Context): Promise<Staircase> {
  const plan = PLANS[context.size];
  const { agents, clients, pollers } = plan.counts;
  const totalMs = plan.windowMs * (agents.length + clients.length + pollers.length);
  let passedMs = 0;
  const stepContext: StepContext = {
    plan,
    onActivity: (doing) => context.progress(passedMs / totalMs, doing),
    advance: (ms, doing) => {
      passedMs += ms;
      context.progress(passedMs / totalMs, doing);
    },
  };
  const certificates = await testCertificates();
  const climbed = await measureAgents(context, certificates, stepContext);
  const shared = { certificates, stepContext, advertisement: climbed.advertisement };
  const steps = [
    ...climbed.steps,
    ...(clients.length === 0 ? [] : await measureClients(context, { ...shared, fleet: "clients" })),
    ...(pollers.length === 0 ? [] : await measureClients(context, { ...shared, fleet: "pollers" })),
  ];
  return { windowMs: plan.windowMs, intervalMs: INTERVAL_MS, steps };
}
