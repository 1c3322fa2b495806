import { amountOf, describeResources, isZero, resourceNames, sum } from "@resource-broker/base";
import type { AdvertisementDTO, ReservationDTO } from "@resource-broker/contract";
import { age } from "../output/age.ts";
import { amountsIn, described, shortAmount } from "../output/amounts.ts";
import type { Styler } from "../output/colour.ts";
import { type Column, properties, table } from "../output/table.ts";
import { reservationColumns } from "../reservations/reservation-columns.ts";
import { CLUSTER_STYLES, gpuModels, regionOf } from "./cluster-columns.ts";
import { type ClusterStatus, overcommittedIn, withheldText } from "./cluster-view.ts";

/** A cluster and everything that hangs on it. */
export interface ClusterReport {
  readonly advertisement: AdvertisementDTO;
  readonly status: ClusterStatus;
  /** Live reservations that it provides. */
  readonly lends: readonly ReservationDTO[];
  /** Live reservations that it asked for. */
  readonly borrows: readonly ReservationDTO[];
}

export interface ClusterTextOptions {
  /** Why the cluster may not lend. */
  readonly why: string | undefined;
  readonly ageMs: number;
  /** The broker's time. */
  readonly at: number;
  readonly styled: Styler;
}

/** Everything about one cluster, a paragraph for each side of it. */
export function clusterText(report: ClusterReport, options: ClusterTextOptions): string {
  const { advertisement, lends, borrows } = report;
  const parts = [
    properties(generalRows(report, options)),
    table(resourceColumns(advertisement), resourceRows(advertisement)),
    priceText(advertisement),
    titled("Labels", labelRows(advertisement)),
    titled("Node shapes", shapeRows(advertisement)),
    `Lends:\n${reservationsText(lends, options)}`,
    `Borrows:\n${reservationsText(borrows, options)}`,
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function generalRows({ advertisement, status }: ClusterReport, { why, ageMs, styled }: ClusterTextOptions) {
  const { clusterID, endpointURL, liqo } = advertisement;
  const beyond = overcommittedIn(advertisement);
  const rows: (readonly [string, string | undefined])[] = [
    ["Name", clusterID],
    ["Status", styled(status, CLUSTER_STYLES[status])],
    ["Why", status === "Ready" ? undefined : why],
    ["Withheld", withheldText(advertisement)],
    ["Overcommitted by", isZero(beyond) ? undefined : describeResources(beyond)],
    ["Last advertisement", `${age(ageMs)} ago`],
    ["Region", regionOf(advertisement)],
    ["Endpoint", endpointURL],
    ["Liqo", liqo === undefined ? undefined : `${liqo.version}, as ${liqo.clusterID}`],
    ["GPU models", gpuModels(advertisement) || undefined],
  ];
  return rows.flatMap(([title, value]) => (value === undefined ? [] : [[title, value] as const]));
}

const KINDS = ["capacity", "allocatable", "allocated", "used", "reserved", "available"] as const;

function resourceRows({ resources }: AdvertisementDTO): readonly string[] {
  return resourceNames(sum(KINDS.map((kind) => amountsIn(resources[kind] ?? {}))));
}

/** One row for each resource, one column for each kind of amount that is known. */
function resourceColumns({ resources }: AdvertisementDTO): readonly Column<string>[] {
  const present = KINDS.flatMap((kind) => {
    const quantities = resources[kind];
    return quantities === undefined ? [] : [{ kind, amounts: amountsIn(quantities) }];
  });
  return [
    { title: "RESOURCE", value: (name) => name },
    ...present.map(({ kind, amounts }) => ({
      title: kind.toUpperCase(),
      value: (name: string) => shortAmount(name, amountOf(amounts, name)),
    })),
  ];
}

function priceText({ cost }: AdvertisementDTO): string {
  if (cost === undefined) return "Prices: none\n";
  const { currency, cpuCost, memoryCost, gpuCost, storageCost, windows = [] } = cost;
  const prices = [
    `${cpuCost} for a CPU`,
    `${memoryCost} for a GB of memory`,
    ...(gpuCost === undefined ? [] : [`${gpuCost} for a GPU`]),
    ...(storageCost === undefined ? [] : [`${storageCost} for a GB of storage`]),
  ];
  const times = windows.map(
    ({ name, from, to, multiplier }) => `  ${name}, ${from} to ${to} UTC: x ${multiplier}\n`,
  );
  return `Prices: ${prices.join(", ")} (${currency}, for an hour)\n${times.join("")}`;
}

function labelRows({ labels = {} }: AdvertisementDTO): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

function shapeRows({ nodeShapes = [] }: AdvertisementDTO): string[] {
  return nodeShapes.map(
    ({ count, ...room }) => `${count} ${count === 1 ? "node has" : "nodes have"} room for ${described(room)}`,
  );
}

function titled(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function reservationsText(
  reservations: readonly ReservationDTO[],
  { at, styled }: ClusterTextOptions,
): string {
  if (reservations.length === 0) return "  nothing\n";
  return table(reservationColumns(at, styled), reservations).replaceAll(/^(?=.)/gmu, "  ");
}
