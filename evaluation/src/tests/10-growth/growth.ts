import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Chart, Series } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings } from "../../evaluation-test.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, withUnit } from "../../report/number-text.ts";
import {
  type ClustersStep,
  type Growth,
  type GrowthResult,
  growthOf,
  type PodsStep,
  slopeText,
} from "./figures.ts";
import { growClusters } from "./grow-clusters.ts";
import { growPods } from "./grow-pods.ts";

const TARGET = { pods: 150_000, rssMb: 80, syncCpuMs: 2000 };

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

function charts(result: GrowthResult): readonly Chart[] {
  const { reservation, advertisement, brokerRss, sync, agentRss } = growths(result);
  const series = (label: string, look: Series["look"], { points }: Growth): Series => ({
    label,
    look,
    points,
  });
  const clusters = { label: "clusters that have advertised", scale: "log" } as const;
  const pods = { label: "pods in the cluster", scale: "log" } as const;
  return [
    {
      name: "10-growth-clusters-cpu",
      title: "What one more call costs the broker, by number of clusters",
      subtitle:
        "CPU of all threads of the broker process for each call, TLS, decision and durable commit included",
      kind: "lines",
      x: clusters,
      y: { label: "CPU for one call", unit: "µs", scale: "log" },
      series: [
        series("this system, reservation", "ours", reservation),
        series("this system, advertisement", "third", advertisement),
      ],
      notes: [`reservation: ${slopeText(reservation)}`, `advertisement: ${slopeText(advertisement)}`],
    },
    {
      name: "10-growth-clusters-memory",
      title: "Memory of the broker, by number of clusters",
      subtitle: "VmRSS; the clusters have advertised and closed their connections",
      kind: "lines",
      x: clusters,
      y: { label: "resident memory", unit: "MB", scale: "log" },
      series: [series("this system", "ours", brokerRss)],
      notes: [slopeText(brokerRss)],
    },
    {
      name: "10-growth-pods-cpu",
      title: "First sync of an agent, by number of pods",
      subtitle: "CPU of the agent process from its start until everything is listed and advertised",
      kind: "lines",
      x: pods,
      y: { label: "CPU of the first sync", unit: "ms", scale: "log" },
      series: [series("this system", "ours", sync)],
      notes: [slopeText(sync)],
    },
    {
      name: "10-growth-pods-memory",
      title: "Memory of an agent, by number of pods",
      subtitle: "VmRSS, settled after the first sync",
      kind: "lines",
      x: pods,
      y: { label: "resident memory", unit: "MB", scale: "log" },
      series: [series("this system", "ours", agentRss)],
      notes: [slopeText(agentRss)],
    },
  ];
}

function findings(result: GrowthResult): Findings {
  const { clusters, pods } = result;
  const { reservation, advertisement, brokerRss, sync, agentRss } = growths(result);
  const [most, largest] = [clusters.at(-1), pods.at(-1)];
  return {
    summary: [
      row(
        `10 broker CPU for a reservation, ${countText(most?.clusters ?? 0)} clusters`,
        withUnit(most?.reservationUs, "µs"),
      ),
      row(`10 agent memory, ${countText(largest?.pods ?? 0)} pods`, withUnit(largest?.rssMb, "MB")),
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

function row(figure: string, ours: string): Findings["summary"][number] {
  return { figure, ours, theirs: "–", factor: "–" };
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
  charts,
  findings,
};
