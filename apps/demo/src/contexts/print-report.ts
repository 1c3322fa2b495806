import { amountOf, describeAmount, describeResources, parseResources } from "@resource-broker/base";
import type { ReservationCostDTO, ResourceQuantitiesDTO } from "@resource-broker/contract";
import { type Line, line, span } from "../view/line.ts";
import type { PendingReport, ReadableCluster, Report, WaitingState } from "./report.ts";

const COLUMN_SPACING = "   ";

const PRICE_DIGITS = 4;
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
  const titles = ["CLUSTER", "NODES", "CPU FREE", "MEMORY FREE", "GPU FREE", "PRICE", "CONTEXT"];
  const rows = table(
    hasOtherNames ? titles : titles.slice(0, -1),
    read.map((cluster) => capacityCells(cluster).slice(0, hasOtherNames ? titles.length : -1)),
  );
  return [
    heading("WHO COULD LEND WHAT"),
    ...(read.length === 0
      ? []
      : rows.map((text, index) => line("  ", index === 0 ? span(text, "quiet") : text))),
    ...clusters.flatMap(({ clusterID, problem }) =>
      problem === undefined ? [] : [line("  ", span(`${clusterID} could not be read: ${problem}`, "bad"))],
    ),
  ];
}

function capacityCells(cluster: ReadableCluster): string[] {
  const { clusterID, context, available, allocatable, cost } = cluster;
  const free = (name: "cpu" | "memory" | "gpu"): string =>
    allocatable[name] === undefined ? "-" : `${shown(name, available)} of ${shown(name, allocatable)}`;
  const price = cost === undefined ? "none" : `${cost.cpuCost} ${cost.currency} per CPU and hour`;
  return [clusterID, nodesText(cluster), free("cpu"), free("memory"), free("gpu"), price, context];
}

/** `2 of 3 (1 tainted)` */
function nodesText({ nodes, uncounted }: ReadableCluster): string {
  const reasons = Object.entries(uncounted);
  const counted = nodes - reasons.reduce((sum, [, count]) => sum + count, 0);
  if (counted === nodes) return String(nodes);
  return `${counted} of ${nodes} (${reasons.map(([reason, count]) => `${count} ${reason}`).join(", ")})`;
}

function shown(name: "cpu" | "memory" | "gpu", quantities: ResourceQuantitiesDTO): string {
  const parsed = parseResources({ cpu: "0", memory: "0", [name]: quantities[name] ?? "0" }, "down");
  const amount = parsed.ok ? amountOf(parsed.resources, name) : 0;
  return amount === 0 ? "0" : (describeAmount(name, amount).split(" ", 1)[0] ?? "");
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

function priceText(cost: ReservationCostDTO | undefined): string {
  if (cost === undefined) return "not priced";
  return `${Number(Number(cost.perHour).toPrecision(PRICE_DIGITS))} ${cost.currency}/h`;
}

function described(quantities: ResourceQuantitiesDTO): string {
  const parsed = parseResources(quantities, "down");
  return parsed.ok ? describeResources(parsed.resources) : "?";
}

function heading(text: string): Line {
  return line(span(text, "title"));
}

/** Rows under their titles, each column as wide as it must be. */
function table(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  return [titles, ...rows].map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join(COLUMN_SPACING)
      .trimEnd(),
  );
}
