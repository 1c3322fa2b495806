import { amountOf, describeResources, isZero, resourceNames, sum } from "@resource-broker/base";
import type { AdvertisementDTO, ReservationDTO } from "@resource-broker/contract";
import { isLive, REGION_LABEL } from "@resource-broker/domain";
import type { Host, Run } from "../cli/command.ts";
import { readLabels } from "../cli/parse-input.ts";
import type { BROKER_OPTIONS, GET_CLUSTERS_OPTIONS } from "../commands/broker-options.ts";
import { withBroker } from "../connection/broker.ts";
import { printListing } from "../output/listing.ts";
import {
  type Column,
  properties,
  type Styler,
  stylerFor,
  table,
  type TextStyle,
  wide,
} from "../output/print.ts";
import {
  age,
  amountsIn,
  described,
  leftIn,
  listed,
  shortAmount,
  titled,
  unitPrice,
  wideAmounts,
} from "../output/text.ts";
import { listReservations, reservationColumns } from "../reservations/reservation.ts";
import {
  type ClusterStatus,
  type ClusterView,
  clusterViews,
  listClusters,
  overcommittedIn,
  readCluster,
  withheldText,
} from "./cluster-view.ts";

export const CLUSTER_STYLES: Readonly<Record<ClusterStatus, TextStyle>> = {
  Ready: "good",
  Full: "careful",
  Overcommitted: "bad",
  Stale: "bad",
  Cordoned: "careful",
  Unknown: "quiet",
};

const UNKNOWN = "STATUS Unknown: this broker is too old to say.";

export const getClusters: Run<typeof GET_CLUSTERS_OPTIONS> = async ({ options, words }, host) => {
  const labels = Object.entries(readLabels("selector", options.selector));
  const [id] = words;
  return withBroker(options, host, async (broker) => {
    const read = async () => {
      const { items, at } = id === undefined ? await listClusters(broker) : await readCluster(broker, id);
      const wanted = items.filter((item) => labels.every(([key, value]) => item.labels?.[key] === value));
      const views = clusterViews({ items: wanted, at });
      return {
        items: views,
        dataOf: ({ advertisement }: ClusterView) => advertisement,
        nameOf: ({ advertisement }: ClusterView) => advertisement.clusterID,
        fingerprintOf: ({ advertisement, status }: ClusterView) =>
          JSON.stringify([status, advertisement.resources, advertisement.cost, advertisement.labels]),
        remarks: remarksOn(views),
        columns: columnsFor(host),
        whenEmpty:
          items.length === 0
            ? "No cluster has advertised yet."
            : "No cluster has these labels; without -l there are some.",
      };
    };
    return printListing(read, options, host);
  });
};

/** What the columns do not show. */
function remarksOn(clusters: readonly ClusterView[]): string[] {
  return [
    ...(clusters.some(({ status }) => status === "Unknown") ? [UNKNOWN] : []),
    ...clusters.flatMap(({ advertisement }) => {
      const withheld = withheldText(advertisement);
      return withheld === undefined ? [] : [`${advertisement.clusterID} withholds ${withheld}.`];
    }),
  ];
}

function columnsFor(host: Host): readonly Column<ClusterView>[] {
  const styled = stylerFor(host);
  const of = (title: string, value: (advertisement: AdvertisementDTO) => string): Column<ClusterView> => ({
    title,
    value: ({ advertisement }) => value(advertisement),
  });
  return [
    of("NAME", ({ clusterID }) => clusterID),
    of("CPU", ({ resources }) => leftIn(resources, "cpu")),
    of("MEMORY", ({ resources }) => leftIn(resources, "memory")),
    of("GPU", ({ resources }) => leftIn(resources, "gpu")),
    of("RESERVED", ({ resources }) => listed(amountsIn(resources.reserved ?? {}))),
    // Prices differ by resource; one column shows that of a CPU, which everybody has.
    of("PRICE", ({ cost }) => unitPrice(cost?.cpuCost, cost, "CPU-h")),
    of("REGION", regionOf),
    { title: "FRESH", value: ({ ageMs }) => age(ageMs) },
    { title: "STATUS", value: ({ status }) => styled(status, CLUSTER_STYLES[status]) },
    ...wide(
      ...wideAmounts<ClusterView>(({ advertisement }, name) => leftIn(advertisement.resources, name)),
      of("MEMORY PRICE", ({ cost }) => unitPrice(cost?.memoryCost, cost, "GB-h")),
      of("GPU PRICE", ({ cost }) => unitPrice(cost?.gpuCost, cost, "GPU-h")),
      of("GPU MODELS", (advertisement) => gpuModels(advertisement) || "-"),
      of("LIQO", ({ liqo }) => liqo?.version ?? "-"),
      of("ENDPOINT", ({ endpointURL }) => endpointURL ?? "-"),
    ),
  ];
}

export function regionOf({ labels }: AdvertisementDTO): string {
  return labels?.[REGION_LABEL] ?? "-";
}

export function gpuModels({ gpus = [] }: AdvertisementDTO): string {
  return gpus.map(({ model, count }) => `${count} ${model}`).join(", ");
}

export const describeCluster: Run<typeof BROKER_OPTIONS> = ({ options, words: [id = ""] }, host) =>
  withBroker(options, host, async (broker) => {
    const found = await readCluster(broker, id);
    const reservations = await listReservations(broker);
    const live = reservations.items.filter(({ status }) => isLive(status.phase));
    const [view] = clusterViews(found);
    if (view === undefined) return undefined;
    const lends = live.filter(({ targetClusterID }) => targetClusterID === id);
    const borrows = live.filter(({ requesterID }) => requesterID === id);
    const { advertisement, status } = view;
    return {
      data: { advertisement, status, lends, borrows },
      table: () => clusterText(view, { lends, borrows, at: found.at, styled: stylerFor(host) }),
      names: [id],
    };
  });

interface ClusterTextOptions {
  /** Live reservations that it provides. */
  readonly lends: readonly ReservationDTO[];
  /** Live reservations that it asked for. */
  readonly borrows: readonly ReservationDTO[];
  /** The broker's time. */
  readonly at: number;
  readonly styled: Styler;
}

/** Everything about one cluster, a paragraph for each side of it. */
function clusterText(view: ClusterView, options: ClusterTextOptions): string {
  const { advertisement } = view;
  const { nodeShapes = [], labels = {} } = advertisement;
  const parts = [
    generalText(view, options.styled),
    table(resourceColumns(advertisement), resourceRows(advertisement)),
    priceText(advertisement),
    titled(
      "Labels",
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join("\n"),
    ),
    titled("Node shapes", nodeShapes.map(shapeText).join("\n")),
    titled("Lends", reservationsText(options.lends, options)),
    titled("Borrows", reservationsText(options.borrows, options)),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function generalText({ advertisement, status, why, ageMs }: ClusterView, styled: Styler): string {
  const { clusterID, endpointURL, liqo } = advertisement;
  const beyond = overcommittedIn(advertisement);
  return properties([
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
  ]);
}

const KINDS = ["capacity", "allocatable", "allocated", "used", "reserved", "available"] as const;

function resourceRows({ resources }: AdvertisementDTO): readonly string[] {
  return resourceNames(sum(KINDS.map((kind) => amountsIn(resources[kind] ?? {}))));
}

/** One row for each resource, one column for each kind of amount that is known. */
function resourceColumns({ resources }: AdvertisementDTO): readonly Column<string>[] {
  const amounts = KINDS.flatMap((kind) => {
    const quantities = resources[kind];
    if (quantities === undefined) return [];
    const vector = amountsIn(quantities);
    return [
      { title: kind.toUpperCase(), value: (name: string) => shortAmount(name, amountOf(vector, name)) },
    ];
  });
  return [{ title: "RESOURCE", value: (name) => name }, ...amounts];
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

function shapeText({ count, ...room }: NonNullable<AdvertisementDTO["nodeShapes"]>[number]): string {
  return `${count} ${count === 1 ? "node has" : "nodes have"} ${described(room)} allocatable`;
}

function reservationsText(
  reservations: readonly ReservationDTO[],
  { at, styled }: ClusterTextOptions,
): string {
  return reservations.length === 0 ? "nothing" : table(reservationColumns(at, styled), reservations);
}
