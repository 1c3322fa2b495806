import { knownResource } from "@resource-broker/base";
import type { AdvertisementDTO, AdvertisementPageDTO } from "@resource-broker/contract";
import { inParts, NAMES, plainNumber } from "../format/amounts.ts";
import { moneyText } from "../format/money.ts";
import type { Tone } from "../parts/chips.tsx";
import type { IconName } from "../parts/icons.tsx";

type Standing = NonNullable<AdvertisementDTO["standing"]>;

/** How the broker sees the cluster; it says so of every one. */
export function standingOf({ standing, timestamp }: AdvertisementDTO): Standing & {
  readonly lends: number;
  readonly borrows: number;
} {
  return { receivedAt: timestamp, isStale: false, lends: 0, borrows: 0, ...standing };
}

const REGION_LABEL = "topology.kubernetes.io/region";

export function regionOf({ labels = {} }: AdvertisementDTO): string {
  return labels[REGION_LABEL] ?? "";
}

type Condition = NonNullable<Standing["conditions"]>[number];

const CONDITIONS: Readonly<Record<Condition["type"], { readonly tone: Tone; readonly icon: IconName }>> = {
  Stale: { tone: "warn", icon: "clock" },
  Cordoned: { tone: "calm", icon: "pause" },
  Overcommitted: { tone: "bad", icon: "warning" },
  Overuse: { tone: "warn", icon: "warning" },
};

/** One for each condition; without any, that all is well. */
export function clusterStates(cluster: AdvertisementDTO) {
  const { conditions = [] } = standingOf(cluster);
  if (conditions.length === 0) return [{ tone: "good" as const, text: "Ready", title: "It lends" }];
  return conditions.map(({ type, message }) => ({ ...CONDITIONS[type], text: type, title: message }));
}

/** "€0.040 CPU · €0.005 GB · €1.20 GPU", each for an hour. */
export function priceText(price: Standing["price"]): string | null {
  if (price === undefined) return null;
  const priced = NAMES.map((name) => {
    const [value, row] = [price[name], knownResource(name)];
    // A GB without a name is of memory, as amounts are.
    const unit = name === "memory" ? "GB" : `${row?.form.isBytes === true ? "GB " : ""}${row?.title}`;
    return value === undefined ? "" : `${moneyText(value, price.currency)} ${unit}`;
  });
  return inParts(priced) || null;
}

/** The name, where it says more than the ID. */
export function secondName({ clusterID, clusterName = "" }: AdvertisementDTO): string | null {
  return clusterName === "" || clusterName === clusterID ? null : clusterName;
}

type Totals = Pick<NonNullable<AdvertisementPageDTO["totals"]>, "ready">;

/** How many of the clusters could lend. */
export function readyText({ ready }: Totals, clusters: number): string {
  if (clusters === 0) return "none";
  const others = clusters - ready;
  return others === 0 ? "all ready to lend" : `${plainNumber(ready)} ready, ${plainNumber(others)} not`;
}

export function gpuModels({ gpus = [] }: AdvertisementDTO): string {
  return gpus.map(({ model, count }) => `${plainNumber(count)} × ${model}`).join(", ");
}
