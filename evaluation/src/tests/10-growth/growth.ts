import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Axis, Chart, Series } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings } from "../../evaluation-test.ts";
import { countText, markdownTable, plainRow, withUnit } from "../../report/format.ts";
import { type Fit, logLogFit } from "../../measure/statistics.ts";
import { OURS } from "../../report/report.ts";
import { type ClustersStep, growClusters, growPods, type PodsStep } from "./measure-growth.ts";

interface GrowthResult {
  readonly clusters: readonly ClustersStep[];
  readonly pods: readonly PodsStep[];
  /** What went wrong, in words. */
  readonly wrong: readonly string[];
}

/** A figure that grows: how fast, as the exponent of a power. */
interface Growth {
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly fit: Fit | undefined;
}

function growthOf<Step>(
  steps: readonly Step[],
  x: (step: Step) => number,
  y: (step: Step) => number,
): Growth {
  const points = steps.map((step) => ({ x: x(step), y: y(step) }));
  return { points, fit: logLogFit(points) };
}

/** `slope 0.12: hardly at all`. What starts high and grows late looks flatter than it is in the end: the last two points tell. */
function slopeText({ points, fit }: Growth): string {
  if (fit === undefined) return "too few points for a slope";
  const end = logLogFit(points.slice(-2))?.slope ?? fit.slope;
  return `slope ${fit.slope.toFixed(2)} (log-log), ${end.toFixed(2)} between the last two: ${wordsFor(end)}`;
}

function wordsFor(slope: number): string {
  if (slope < 0.15) return "flat";
  if (slope < 0.6) return "slower than in proportion";
  if (slope < 1.15) return "about in proportion";
  return "faster than in proportion";
}

const TARGET = { pods: 150_000, rssMb: 80, syncCpuMs: 2000 };
const CLUSTERS: Axis = { label: "clusters that have advertised", scale: "log" };
const PODS: Axis = { label: "pods in the cluster", scale: "log" };

/** Every figure that may grow, by what it grows with. */
function growths({
  clusters,
  pods,
}: GrowthResult): Readonly<
  Record<"reservation" | "advertisement" | "brokerRss" | "sync" | "agentRss", Growth>
> {
  const ofClusters = (y: (step: ClustersStep) => number): Growth =>
    growthOf(clusters, (step) => step.clusters, y);
  const ofPods = (y: (step: PodsStep) => number): Growth => growthOf(pods, (step) => step.pods, y);
  return {
    reservation: ofClusters(({ reservationUs }) => reservationUs),
    advertisement: ofClusters(({ advertisementUs }) => advertisementUs),
    brokerRss: ofClusters(({ rssMb }) => rssMb),
    sync: ofPods(({ syncCpuMs }) => syncCpuMs),
    agentRss: ofPods(({ rssMb }) => rssMb),
  };
}

function chartsOf(result: GrowthResult): readonly Chart[] {
  const { reservation, advertisement, brokerRss, sync, agentRss } = growths(result);
  return [
    growthChart({
      name: "10-growth-clusters-cpu",
      title: "What one more call costs the broker, by number of clusters",
      subtitle:
        "CPU of all threads of the broker process for each call, TLS, decision and durable commit included",
      x: CLUSTERS,
      y: { label: "CPU for one call", unit: "µs" },
      lines: [
        { what: "reservation", style: "ours", growth: reservation },
        { what: "advertisement", style: "third", growth: advertisement },
      ],
    }),
    growthChart({
      name: "10-growth-clusters-memory",
      title: "Memory of the broker, by number of clusters",
      subtitle: "VmRSS; the clusters have advertised and closed their connections",
      x: CLUSTERS,
      y: { label: "resident memory", unit: "MB" },
      lines: [{ style: "ours", growth: brokerRss }],
    }),
    growthChart({
      name: "10-growth-pods-cpu",
      title: "First sync of an agent, by number of pods",
      subtitle: "CPU of the agent process from its start until everything is listed and advertised",
      x: PODS,
      y: { label: "CPU of the first sync", unit: "ms" },
      lines: [{ style: "ours", growth: sync }],
    }),
    growthChart({
      name: "10-growth-pods-memory",
      title: "Memory of an agent, by number of pods",
      subtitle: "VmRSS, settled after the first sync",
      x: PODS,
      y: { label: "resident memory", unit: "MB" },
      lines: [{ style: "ours", growth: agentRss }],
    }),
  ];
}

interface GrowthChart extends Pick<Chart, "name" | "title" | "subtitle" | "x"> {
  readonly y: Pick<Axis, "label" | "unit">;
  /** `what` tells the lines of one chart apart. */
  readonly lines: readonly { what?: string; style: Series["style"]; growth: Growth }[];
}

/** Both axes logarithmic; below it the slope of each line. */
function growthChart({ y, lines, ...chart }: GrowthChart): Chart {
  return {
    ...chart,
    kind: "lines",
    y: { ...y, scale: "log" },
    series: lines.map(({ what, style, growth: { points } }) => ({
      label: what === undefined ? OURS : `${OURS}, ${what}`,
      style,
      points,
    })),
    notes: lines.map(({ what, growth }) =>
      what === undefined ? slopeText(growth) : `${what}: ${slopeText(growth)}`,
    ),
  };
}

function findingsOf(result: GrowthResult): Findings {
  const { clusters, pods } = result;
  const { reservation, advertisement, brokerRss, sync, agentRss } = growths(result);
  const [most, largest] = [clusters.at(-1), pods.at(-1)];
  return {
    summary: [
      plainRow(
        `10 broker CPU for a reservation, ${countText(most?.clusters ?? 0)} clusters`,
        withUnit(most?.reservationUs, "µs"),
      ),
      plainRow(`10 agent memory, ${countText(largest?.pods ?? 0)} pods`, withUnit(largest?.rssMb, "MB")),
    ],
    text: [
      markdownTable(
        ["clusters", "CPU for a reservation", "CPU for an advertisement", "broker RSS"],
        clusters.map((step) => [
          countText(step.clusters),
          withUnit(step.reservationUs, "µs"),
          withUnit(step.advertisementUs, "µs"),
          withUnit(step.rssMb, "MB"),
        ]),
      ),
      "",
      markdownTable(
        ["pods", "nodes", "CPU of the first sync", "CPU for a pod", "agent RSS", "of which private"],
        pods.map((step) => [
          countText(step.pods),
          countText(step.nodes),
          withUnit(step.syncCpuMs, "ms"),
          withUnit((1000 * step.syncCpuMs) / step.pods, "µs"),
          withUnit(step.rssMb, "MB"),
          withUnit(step.privateMb, "MB"),
        ]),
      ),
      "",
      `- a reservation: ${slopeText(reservation)}. Every cluster that has advertised is a candidate of every decision, so this cannot stay flat for ever.`,
      `- an advertisement: ${slopeText(advertisement)}.`,
      `- memory of the broker: ${slopeText(brokerRss)}.`,
      `- first sync of an agent: ${slopeText(sync)}. Every pod is read once, so proportion is the best there can be; the cost for one pod falls as the start of the process weighs less.`,
      `- memory of an agent: ${slopeText(agentRss)}.`,
      "",
      ...shortfall(largest),
    ].join("\n"),
  };
}

function shortfall(largest: PodsStep | undefined): string[] {
  if (largest?.pods !== TARGET.pods) return [];
  const missed = [
    ...(largest.rssMb > TARGET.rssMb
      ? [`${withUnit(largest.rssMb, "MB")} instead of ${TARGET.rssMb} MB`]
      : []),
    ...(largest.syncCpuMs > TARGET.syncCpuMs
      ? [`${withUnit(largest.syncCpuMs, "ms")} of CPU instead of ${countText(TARGET.syncCpuMs)} ms`]
      : []),
  ];
  return missed.length === 0
    ? []
    : [`**Short of our own targets** for ${countText(TARGET.pods)} pods: ${missed.join("; ")}.`];
}

async function run(context: Context): Promise<GrowthResult> {
  const part = async (name: string): Promise<Context> => {
    const folder = join(context.folder, name);
    await mkdir(folder, { recursive: true });
    return { ...context, folder };
  };
  const { progress } = context;
  const clusters = await growClusters(await part("clusters"), (share, doing) => progress(share / 2, doing));
  const pods = await growPods(await part("pods"), (share, doing) => progress(0.5 + share / 2, doing));
  return { clusters: clusters.steps, pods, wrong: clusters.wrong };
}

export const growthTest: EvaluationTest<GrowthResult> = {
  id: "10",
  title: "Growth: what it costs when there is more of it",
  method: [
    "**Clusters.** One real broker process; 1, 10, 100, 1,000, 10,000 clusters of different sizes advertise over mTLS and close their connections (what connections",
    "cost is in tests 1a and 1b). At each count 20 clients make reservations and release them, then up to 50 clusters advertise again: CPU is the difference of",
    "`/proc/<pid>/task/*/schedstat` (all threads, nanoseconds) before and after, divided by the number of calls; memory is VmRSS of `/proc/<pid>/status` after a pause.",
    "Advertisements stay fresh for 24 h here, so that all clusters stay candidates. **Pods.** A real agent process in a simulated cluster (kube-sim in a process of its",
    "own) of 200 to 150,000 pods, 30 on a node: CPU until `/readyz` says 200, VmRSS and RssAnon after a pause. One trial for each size: the slope is the",
    "result, not the single figure. Slopes are least squares of the logarithms.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 12, quick: 45, full: 300 })[size],
  run,
  faults: ({ wrong }) => wrong,
  charts: chartsOf,
  findings: findingsOf,
};
