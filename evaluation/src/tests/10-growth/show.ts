import type { Axis, Chart, Series } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, withUnit } from "../../report/number-text.ts";
import { OURS } from "../../report/summary.ts";
import {
  type ClustersStep,
  type Growth,
  type GrowthResult,
  growthOf,
  type PodsStep,
  slopeText,
} from "./results.ts";

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

export function chartsOf(result: GrowthResult): readonly Chart[] {
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

export function findingsOf(result: GrowthResult): Findings {
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

function row(metric: string, ours: string): Findings["summary"][number] {
  return { metric, ours, theirs: "–", factor: "–" };
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
