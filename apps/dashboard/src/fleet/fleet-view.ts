import type { UiCluster, UiCondition, UiFleet } from "@resource-broker/contract/dashboard";
import { inParts, plainNumber } from "../format/amounts.ts";
import { moneyText } from "../format/money.ts";
import type { Tone } from "../parts/chips.tsx";
import type { IconName } from "../parts/icons.tsx";

export interface StateView {
  readonly tone: Tone;
  readonly text: string;
  readonly title: string;
  readonly icon?: IconName;
}

const CONDITIONS: Readonly<Record<UiCondition["type"], Pick<StateView, "tone" | "icon">>> = {
  Stale: { tone: "warn", icon: "clock" },
  Cordoned: { tone: "calm", icon: "pause" },
  Overcommitted: { tone: "bad", icon: "warning" },
  Overuse: { tone: "warn", icon: "warning" },
};

/** One for each condition; without any, that all is well. */
export function clusterStates({ conditions }: Pick<UiCluster, "conditions">): readonly StateView[] {
  if (conditions.length === 0) return [{ tone: "good", text: "Ready", title: "It lends" }];
  return conditions.map(({ type, message }) => ({ ...CONDITIONS[type], text: type, title: message }));
}

/** "€0.040 CPU · €0.005 GB · €1.20 GPU", each for an hour. */
export function priceText(price: UiCluster["price"]): string | null {
  if (price === null) return null;
  const { cpu, memory, gpu, currency } = price;
  const priced = [
    cpu === null ? "" : `${moneyText(cpu, currency)} CPU`,
    memory === null ? "" : `${moneyText(memory, currency)} GB`,
    gpu === null ? "" : `${moneyText(gpu, currency)} GPU`,
  ];
  const text = inParts(priced);
  return text === "" ? null : text;
}

/** The name, where it says more than the ID. */
export function secondName({ id, name }: Pick<UiCluster, "id" | "name">): string | null {
  return name === "" || name === id ? null : name;
}

export interface TotalsView {
  readonly clusters: string;
  readonly clustersNote: string;
  readonly live: string;
  readonly spend: string;
}

export function fleetTotals({ clusters, ready, live, spendPerHour }: UiFleet["totals"]): TotalsView {
  const others = clusters - ready;
  return {
    clusters: plainNumber(clusters),
    clustersNote:
      others === 0 ? allReady(clusters) : `${plainNumber(ready)} ready, ${plainNumber(others)} not`,
    live: plainNumber(live),
    spend: moneyText(spendPerHour.amount, spendPerHour.currency),
  };
}

function allReady(clusters: number): string {
  return clusters === 0 ? "none" : "all ready to lend";
}

export function gpuModels(gpus: UiCluster["gpus"]): string {
  return gpus.map(({ model, count }) => `${plainNumber(count)} × ${model}`).join(", ");
}
