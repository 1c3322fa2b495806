import { type Axis, type Chart, OURS, series, type Series } from "../../charts/chart.ts";
import { evaluationTest, type Line } from "../../evaluation-test.ts";
import { inScope, partOf } from "../../measure/scope.ts";
import { logLogFit } from "../../measure/statistics.ts";
import { countText, plainRow, tableOf, withUnit } from "../../report/format.ts";
import { type ClustersStep, growClusters, growPods, type PodsStep } from "./measure-growth.ts";

interface GrowthResult {
  readonly clusters: readonly ClustersStep[];
  readonly pods: readonly PodsStep[];
  /** What went wrong, in words. */
  readonly wrong: readonly string[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const byClusters = ({ clusters }: GrowthResult, y: (step: ClustersStep) => number): Point[] =>
  clusters.map((step) => ({ x: step.clusters, y: y(step) }));
const byPods = ({ pods }: GrowthResult, y: (step: PodsStep) => number): Point[] =>
  pods.map((step) => ({ x: step.pods, y: y(step) }));

/** Every figure that may grow, by what it grows with. */
const FIGURES = {
  reservation: (result) => byClusters(result, ({ reservationUs }) => reservationUs),
  advertisement: (result) => byClusters(result, ({ advertisementUs }) => advertisementUs),
  brokerRss: (result) => byClusters(result, ({ rssMb }) => rssMb),
  sync: (result) => byPods(result, ({ syncCpuMs }) => syncCpuMs),
  agentRss: (result) => byPods(result, ({ rssMb }) => rssMb),
} satisfies Record<string, (result: GrowthResult) => Point[]>;

/**
 * How fast it grows, as the exponent of a power: `slope 0.12: hardly at all`. What starts high and grows late looks flatter
 * than it is in the end: the last two points tell.
 */
function slopeText(points: readonly Point[]): string {
  const fit = logLogFit(points);
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

const CLUSTERS: Axis = { label: "clusters that have advertised", scale: "log" };
const PODS: Axis = { label: "pods in the cluster", scale: "log" };

interface GrowthChart extends Pick<Chart, "name" | "title" | "subtitle" | "x"> {
  readonly y: Pick<Axis, "label" | "unit">;
  /** `what` tells the lines of one chart apart. */
  readonly lines: readonly {
    readonly what?: string;
    readonly style: Series["style"];
    readonly figure: keyof typeof FIGURES;
  }[];
}

const CHARTS: readonly GrowthChart[] = [
  {
    name: "10-growth-clusters-cpu",
    title: "What one more call costs the broker, by number of clusters",
    subtitle:
      "CPU of all threads of the broker process for each call, TLS, decision and durable commit included",
    x: CLUSTERS,
    y: { label: "CPU for one call", unit: "µs" },
    lines: [
      { what: "reservation", style: "ours", figure: "reservation" },
      { what: "advertisement", style: "third", figure: "advertisement" },
    ],
  },
  {
    name: "10-growth-clusters-memory",
    title: "Memory of the broker, by number of clusters",
    subtitle: "VmRSS; the clusters have advertised and closed their connections",
    x: CLUSTERS,
    y: { label: "resident memory", unit: "MB" },
    lines: [{ style: "ours", figure: "brokerRss" }],
  },
  {
    name: "10-growth-pods-cpu",
    title: "First sync of an agent, by number of pods",
    subtitle: "CPU of the agent process from its start until everything is listed and advertised",
    x: PODS,
    y: { label: "CPU of the first sync", unit: "ms" },
    lines: [{ style: "ours", figure: "sync" }],
  },
  {
    name: "10-growth-pods-memory",
    title: "Memory of an agent, by number of pods",
    subtitle: "VmRSS, settled after the first sync",
    x: PODS,
    y: { label: "resident memory", unit: "MB" },
    lines: [{ style: "ours", figure: "agentRss" }],
  },
];

/** Both axes logarithmic; below it the slope of each line. */
function chartOf({ y, lines, ...chart }: GrowthChart, result: GrowthResult): Chart {
  return {
    ...chart,
    kind: "lines",
    y: { ...y, scale: "log" },
    series: lines.map(({ what, style, figure }) =>
      series(what === undefined ? OURS : `${OURS}, ${what}`, style, FIGURES[figure](result)),
    ),
    notes: lines.map(({ what, figure }) => {
      const slope = slopeText(FIGURES[figure](result));
      return what === undefined ? slope : `${what}: ${slope}`;
    }),
  };
}

const TARGET = { pods: 150_000, rssMb: 80, syncCpuMs: 2000 };

function shortfall(largest: PodsStep | undefined): Line {
  if (largest?.pods !== TARGET.pods) return undefined;
  const missed = [
    largest.rssMb > TARGET.rssMb && `${withUnit(largest.rssMb, "MB")} instead of ${TARGET.rssMb} MB`,
    largest.syncCpuMs > TARGET.syncCpuMs &&
      `${withUnit(largest.syncCpuMs, "ms")} of CPU instead of ${countText(TARGET.syncCpuMs)} ms`,
  ].filter((each) => each !== false);
  return (
    missed.length > 0 &&
    `**Short of our own targets** for ${countText(TARGET.pods)} pods: ${missed.join("; ")}.`
  );
}

export const growthTest = evaluationTest<GrowthResult>({
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
  expectedSeconds: { smoke: 12, quick: 45, full: 300 },
  run: async (context) => {
    const [first, second] = [
      await partOf(context, { name: "clusters", from: 0, to: 0.5 }),
      await partOf(context, { name: "pods", from: 0.5, to: 1 }),
    ];
    const grown = await inScope(first, growClusters);
    const pods = await inScope(second, growPods);
    return { clusters: grown.steps, pods, wrong: grown.wrong };
  },
  report: (result) => {
    const { clusters, pods, wrong } = result;
    const [most, largest] = [clusters.at(-1), pods.at(-1)];
    const slopeOf = (figure: keyof typeof FIGURES): string => slopeText(FIGURES[figure](result));
    return {
      faults: wrong,
      charts: CHARTS.map((chart) => chartOf(chart, result)),
      summary: [
        plainRow(
          `10 broker CPU for a reservation, ${countText(most?.clusters ?? 0)} clusters`,
          withUnit(most?.reservationUs, "µs"),
        ),
        plainRow(`10 agent memory, ${countText(largest?.pods ?? 0)} pods`, withUnit(largest?.rssMb, "MB")),
      ],
      text: [
        tableOf(clusters, {
          clusters: (step) => step.clusters,
          "CPU for a reservation": ({ reservationUs }) => [reservationUs, "µs"],
          "CPU for an advertisement": ({ advertisementUs }) => [advertisementUs, "µs"],
          "broker RSS": ({ rssMb }) => [rssMb, "MB"],
        }),
        tableOf(pods, {
          pods: (step) => step.pods,
          nodes: ({ nodes }) => nodes,
          "CPU of the first sync": ({ syncCpuMs }) => [syncCpuMs, "ms"],
          "CPU for a pod": (step) => [(1000 * step.syncCpuMs) / step.pods, "µs"],
          "agent RSS": ({ rssMb }) => [rssMb, "MB"],
          "of which private": ({ privateMb }) => [privateMb, "MB"],
        }),
        [
          `- a reservation: ${slopeOf("reservation")}. Every cluster that has advertised is a candidate of every decision, so this cannot stay flat for ever.`,
          `- an advertisement: ${slopeOf("advertisement")}.`,
          `- memory of the broker: ${slopeOf("brokerRss")}.`,
          `- first sync of an agent: ${slopeOf("sync")}. Every pod is read once, so proportion is the best there can be; the cost for one pod falls as the start of the process weighs less.`,
          `- memory of an agent: ${slopeOf("agentRss")}.`,
        ].join("\n"),
        shortfall(largest),
      ],
    };
  },
});
