import { describeResources, parseResources } from "@resource-broker/base";
import type { CostDTO, ReservationCostDTO, ResourceQuantitiesDTO } from "@resource-broker/contract";
import { CAPACITY_TITLES, capacityCells, type Line, line, priceText, span, table } from "../text.ts";

/** All that is found out, as `-o json` prints it. */
export interface Report {
  readonly clusters: readonly ClusterReport[];
  /** Pods that wait for a node, alike ones of one workload together, in the order in which the broker was asked. */
  readonly pending: readonly PendingReport[];
}

export type ClusterReport = UnreadableCluster | ReadableCluster;

export interface ClusterRef {
  /** Of the kubeconfig. */
  readonly context: string;
  /** What the broker calls it: the context's name, made fit for a cluster ID. */
  readonly clusterID: string;
  readonly server: string;
}

export interface UnreadableCluster extends ClusterRef {
  /** Why nothing is known of it, and the remedy. */
  readonly problem: string;
}

export interface ReadableCluster extends ClusterRef {
  readonly problem?: undefined;
  readonly nodes: number;
  /** Nodes whose capacity is not lent, and why: `3 not-ready`. */
  readonly uncounted: Readonly<Record<string, number>>;
  readonly allocatable: ResourceQuantitiesDTO;
  readonly allocated: ResourceQuantitiesDTO;
  /** What it could lend before anybody was asked. */
  readonly available: ResourceQuantitiesDTO;
  /** As the policy says. */
  readonly cost?: CostDTO;
}

/** Why pods wait. Only for `unschedulable` ones another cluster is asked. */
export type WaitingState = "unschedulable" | "gated" | "pinned" | "borrowing" | "unseen";

export interface PendingReport {
  readonly clusterID: string;
  readonly namespace: string;
  /** `ReplicaSet/web-7d9f`, or the pod itself. */
  readonly workload: string;
  readonly pods: number;
  /** What each of them requests. */
  readonly each: ResourceQuantitiesDTO;
  readonly state: WaitingState;
  /** What the scheduler says. */
  readonly why: string;
  readonly takenBy: readonly Placement[];
  /** Pods that no cluster takes. */
  readonly left: number;
  /** Pods for which nobody was asked, since there are too many. */
  readonly notAsked: number;
  /** The broker's words: who was compared, why each lost, what would flip it. */
  readonly decisions: readonly string[];
  /** What would turn the refusal of those that are left. */
  readonly flip?: string;
}

export interface Placement {
  readonly clusterID: string;
  readonly pods: number;
  /** For each of them. Absent: that cluster is not priced. */
  readonly cost?: ReservationCostDTO;
}

const REASON_INDENT = " ".repeat(6);

/** Why nobody was asked. */
const NOT_ASKED: Readonly<Record<Exclude<WaitingState, "unschedulable">, string>> = {
  gated: "it has a scheduling gate: more capacity would not help",
  pinned: "it is bound to one node by name: another cluster cannot help",
  borrowing: "it waits for a virtual node of an existing reservation",
  unseen: "the scheduler has not reported it as unschedulable yet",
};

/** What a person wants to know, in the order in which they ask. */
export function reportRows(report: Report): Line[] {
  return [...capacityRows(report), line(), ...pendingRows(report)];
}

function capacityRows({ clusters }: Report): Line[] {
  const read = clusters.filter((cluster) => cluster.problem === undefined);
  const hasOtherNames = read.some(({ context, clusterID }) => context !== clusterID);
  const titles = ["CLUSTER", "NODES", ...CAPACITY_TITLES, "CONTEXT"];
  const rows = table(
    hasOtherNames ? titles : titles.slice(0, -1),
    read.map((cluster) => clusterCells(cluster).slice(0, hasOtherNames ? titles.length : -1)),
  );
  return [
    heading("WHO COULD LEND WHAT"),
    ...(read.length === 0 ? [] : rows.map((row) => line("  ", ...row))),
    ...clusters.flatMap(({ clusterID, problem }) =>
      problem === undefined ? [] : [line("  ", span(`${clusterID} could not be read: ${problem}`, "bad"))],
    ),
  ];
}

function clusterCells(cluster: ReadableCluster): string[] {
  const { clusterID, context, available, allocatable, cost } = cluster;
  return [clusterID, nodesText(cluster), ...capacityCells(available, allocatable, cost), context];
}

/** `2 of 3 (1 tainted)` */
function nodesText({ nodes, uncounted }: ReadableCluster): string {
  const reasons = Object.entries(uncounted);
  const counted = nodes - reasons.reduce((sum, [, count]) => sum + count, 0);
  if (counted === nodes) return String(nodes);
  return `${counted} of ${nodes} (${reasons.map(([reason, count]) => `${count} ${reason}`).join(", ")})`;
}

function pendingRows({ pending, clusters }: Report): Line[] {
  const pods = pending.reduce((sum, each) => sum + each.pods, 0);
  const title = heading(`PENDING TODAY: ${pods === 1 ? "1 pod" : `${pods} pods`}`);
  if (pods === 0) return [title, line("  every pod has a node")];
  const isPriced = clusters.some((cluster) => cluster.problem === undefined && cluster.cost !== undefined);
  const hint = line(
    span("  No cluster has a price: give them with --policy FILE (docs/policy.md).", "quiet"),
  );
  return [title, ...pending.flatMap(groupRows), ...(isPriced ? [] : [line(), hint])];
}

function groupRows(group: PendingReport): Line[] {
  const { clusterID, namespace, workload, pods, each, state, why } = group;
  const size = described(each);
  const wants = pods === 1 ? size : `${pods} pods, each ${size}`;
  return [
    line(),
    line("  ", span(`${clusterID}: ${workload} in ${namespace}: ${wants}`, "title")),
    line("    ", span(why, "quiet")),
    ...(state === "unschedulable" ? placeRows(group) : [line("    ", NOT_ASKED[state])]),
  ];
}

function placeRows({ takenBy, left, notAsked, pods, decisions, flip }: PendingReport): Line[] {
  const of = (count: number): string => (pods === 1 ? "it" : `${count} of ${pods}`);
  return [
    ...takenBy.map(({ clusterID, pods: count, cost }) =>
      line(
        "    ",
        span(`${clusterID} would take ${of(count)}`, "good"),
        `, ${priceText(cost)}${count > 1 ? " each" : ""}`,
      ),
    ),
    ...(left === 0 ? [] : [line("    ", span(`no cluster would take ${of(left)}`, "bad"))]),
    ...(notAsked === 0 ? [] : [line("    ", `${of(notAsked)} not requested: there are too many pods`)]),
    ...decisions.flatMap((text) => reasonRows(text)),
    ...(flip === undefined || decisions.some((text) => text.includes(flip))
      ? []
      : [line(REASON_INDENT, span(flip, "careful"))]),
  ];
}

/** The broker's explanation without its headline, which is printed above; a headline alone is the reason. */
function reasonRows(explanation: string): Line[] {
  const [headline = "", ...reasons] = explanation.split("\n");
  if (reasons.length === 0) return [line(REASON_INDENT, headline)];
  // Indented lines are candidates; the others say what would change the result.
  return reasons.map((text) => line(REASON_INDENT, span(text, text.startsWith(" ") ? "plain" : "careful")));
}

function described(quantities: ResourceQuantitiesDTO): string {
  const parsed = parseResources(quantities, "down");
  return parsed.ok ? describeResources(parsed.resources) : "?";
}

function heading(text: string): Line {
  return line(span(text, "title"));
}
