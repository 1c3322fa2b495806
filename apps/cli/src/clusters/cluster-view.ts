import {
  combine,
  describeResources,
  isZero,
  parseTime,
  type ResourceVector,
  subtract,
} from "@resource-broker/base";
import { advertisementCall, advertisementPages } from "@resource-broker/client";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import { type Broker, listAll, type Listed, orUnknown } from "../connection/broker.ts";
import { amountsIn } from "../output/text.ts";

/** Unknown: an older broker, which does not say. */
export type ClusterStatus = "Ready" | "Full" | "Overcommitted" | "Stale" | "Cordoned" | "Unknown";

/** A cluster as the broker sees it. */
export interface ClusterView {
  readonly advertisement: AdvertisementDTO;
  readonly status: ClusterStatus;
  /** Why it may not lend, in words. */
  readonly why: string | undefined;
  /** How long ago the broker heard it; where the broker did not say, how old it is by the agent's own clock. */
  readonly ageMs: number;
}

export function clusterViews({ items, at }: Listed<AdvertisementDTO>): readonly ClusterView[] {
  return items.map((advertisement) => {
    const { standing, timestamp } = advertisement;
    return {
      advertisement,
      status: statusOf(advertisement),
      why: whyOf(standing),
      ageMs: at - (parseTime(standing?.receivedAt ?? timestamp) ?? at),
    };
  });
}

function statusOf(advertisement: AdvertisementDTO): ClusterStatus {
  const { standing } = advertisement;
  if (standing === undefined) return "Unknown";
  if (standing.cordon !== undefined || closedText(standing) !== undefined) return "Cordoned";
  if (standing.isStale) return "Stale";
  if (!isZero(overcommittedIn(advertisement))) return "Overcommitted";
  return hasNothingLeft(advertisement) ? "Full" : "Ready";
}

function whyOf(standing: AdvertisementDTO["standing"]): string | undefined {
  const { cordon, isStale } = standing ?? {};
  if (cordon !== undefined)
    return `cordoned by ${cordon.by}${cordon.reason === undefined ? "" : `: ${cordon.reason}`}`;
  const closed = closedText(standing);
  if (closed !== undefined) return closed;
  return isStale === true ? "its advertisement is too old" : undefined;
}

/** Why it gets no new reservations; an eviction has the effect of a cordon, and no cordon need be there. */
export function closedText(standing: AdvertisementDTO["standing"]): string | undefined {
  return standing?.conditions?.find(({ type }) => type === "Cordoned")?.message;
}

/** What the broker does not lend on of a cluster with an older agent, in words. */
export function withheldText({ standing }: AdvertisementDTO): string | undefined {
  const withheld = amountsIn(standing?.withheld ?? {});
  return isZero(withheld)
    ? undefined
    : `${describeResources(withheld)} that it has borrowed: its older agent counts them as its own`;
}

function hasNothingLeft({ resources }: AdvertisementDTO): boolean {
  const { cpuMillis, memoryBytes } = amountsIn(resources.available);
  return cpuMillis === 0 || memoryBytes === 0;
}

/** What the cluster lends beyond what it still has. */
export function overcommittedIn({ resources, standing }: AdvertisementDTO): ResourceVector {
  const { allocatable, allocated, reserved } = resources;
  const held = amountsIn(reserved ?? {});
  const own = subtract(amountsIn(allocatable), amountsIn(standing?.withheld ?? {}));
  const left = subtract(subtract(own, amountsIn(allocated)), held);
  return combine(left, held, (amount, promised) => Math.max(0, Math.min(-amount, promised)));
}

/** Every cluster that has advertised, in the order of their IDs. Admins only. */
export function listClusters(broker: Broker): Promise<Listed<AdvertisementDTO>> {
  return listAll(broker, advertisementPages());
}

export async function readCluster(broker: Broker, id: string): Promise<Listed<AdvertisementDTO>> {
  const { value, at } = await withClusterHint(broker, id, broker.request(advertisementCall(id)));
  return { items: [value], at };
}

/** Admins are told which name they may have meant; others may not know the names. */
export function withClusterHint<T>(broker: Broker, id: string, work: Promise<T>): Promise<T> {
  return orUnknown(work, async (cause) => {
    const { items } = await listClusters(broker).catch(() => ({ items: [] }));
    const names = items.map(({ clusterID }) => clusterID);
    const message = `no cluster ${JSON.stringify(id)} has advertised here${didYouMean(id, names)}`;
    return new CommandError("error", message, { cause });
  });
}
