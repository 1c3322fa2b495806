import type { AdvertisementDTO } from "@resource-broker/contract";
import { REGION_LABEL } from "@resource-broker/domain";
import { age } from "../output/age.ts";
import { amountsIn, leftOf, listed } from "../output/amounts.ts";
import type { Styler, TextStyle } from "../output/colour.ts";
import type { Column } from "../output/table.ts";
import type { ClusterStatus, ClusterView } from "./cluster-view.ts";

export const CLUSTER_STYLES: Readonly<Record<ClusterStatus, TextStyle>> = {
  Ready: "good",
  Full: "careful",
  Overcommitted: "bad",
  Stale: "bad",
  Cordoned: "careful",
  Unknown: "quiet",
};

export function clusterColumns(styled: Styler): readonly Column<ClusterView>[] {
  return [
    { title: "NAME", value: ({ advertisement }) => advertisement.clusterID },
    { title: "CPU", value: leftColumn("cpuMillis", "cpu") },
    { title: "MEMORY", value: leftColumn("memoryBytes", "memory") },
    { title: "GPU", value: leftColumn("gpus", "gpu") },
    {
      title: "RESERVED",
      value: ({ advertisement }) => listed(amountsIn(advertisement.resources.reserved ?? {})),
    },
    { title: "PRICE", value: ({ advertisement }) => cpuPrice(advertisement) },
    { title: "REGION", value: ({ advertisement }) => regionOf(advertisement) },
    { title: "FRESH", value: ({ ageMs }) => age(ageMs) },
    { title: "STATUS", value: ({ status }) => styled(status, CLUSTER_STYLES[status]) },
  ];
}

export function wideClusterColumns(styled: Styler): readonly Column<ClusterView>[] {
  return [
    ...clusterColumns(styled),
    { title: "STORAGE", value: leftColumn("storageBytes", "storage") },
    { title: "MEMORY PRICE", value: ({ advertisement: { cost } }) => priced(cost?.memoryCost, cost, "GB-h") },
    { title: "GPU PRICE", value: ({ advertisement: { cost } }) => priced(cost?.gpuCost, cost, "GPU-h") },
    { title: "GPU MODELS", value: ({ advertisement }) => gpuModels(advertisement) || "-" },
    { title: "LIQO", value: ({ advertisement: { liqo } }) => liqo?.version ?? "-" },
    { title: "ENDPOINT", value: ({ advertisement: { endpointURL } }) => endpointURL ?? "-" },
  ];
}

export function regionOf({ labels }: AdvertisementDTO): string {
  return labels?.[REGION_LABEL] ?? "-";
}

export function gpuModels({ gpus = [] }: AdvertisementDTO): string {
  return gpus.map(({ model, count }) => `${count} ${model}`).join(", ");
}

/** Prices differ by resource; one column shows that of a CPU, which everybody has. */
function cpuPrice({ cost }: AdvertisementDTO): string {
  return priced(cost?.cpuCost, cost, "CPU-h");
}

function priced(price: string | undefined, cost: AdvertisementDTO["cost"], unit: string): string {
  return price === undefined || cost === undefined ? "-" : `${price} ${cost.currency}/${unit}`;
}

function leftColumn(
  field: "cpuMillis" | "memoryBytes" | "gpus" | "storageBytes",
  name: string,
): (item: ClusterView) => string {
  return ({ advertisement: { resources } }) =>
    leftOf(name, amountsIn(resources.available)[field], amountsIn(resources.allocatable)[field]);
}
