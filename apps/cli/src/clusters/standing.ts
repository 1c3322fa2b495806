import {
  type AdvertisementDTO,
  Fault,
  parseDuration,
  PATH,
  parseTime,
  type QuoteDTO,
  quoteSchema,
} from "@resource-broker/contract";
import { isZero, type ResourceVector, resourceVector, subtract } from "@resource-broker/domain";
import type { Broker } from "../connection/broker.ts";
import { amountsIn } from "../output/amounts.ts";
import type { Clusters } from "./read-clusters.ts";

export type ClusterStatus = "Ready" | "Full" | "Overcommitted" | "Stale" | "Cordoned" | "Unknown";

/** A cluster with what its advertisement does not say of it. */
export interface StandingCluster {
  readonly advertisement: AdvertisementDTO;
  readonly status: ClusterStatus;
  /** Why it may not lend, in words. */
  readonly why: string | undefined;
  /** How long ago the broker heard it; where the broker did not say, how old it is by the agent's own clock. */
  readonly ageMs: number;
}

/** What a quote tells of one candidate. */
interface Candidate {
  readonly ageMs: number | undefined;
  readonly refusals: readonly string[];
  readonly message: string | undefined;
}

/** Next to nothing: whoever cannot lend even this is full. */
const CRUMB = { requestedResources: { cpu: "1m", memory: "1" } };

/**
 * Advertisements carry neither when the broker received them nor whether the cluster is cordoned. A quote does, for each
 * candidate, by the broker's own clock and rules, and writes nothing: so one is asked for.
 */
export async function standingOf(
  broker: Broker,
  { items, at }: Clusters,
): Promise<readonly StandingCluster[]> {
  const [only] = items;
  const target = items.length === 1 && only !== undefined ? only.clusterID : undefined;
  const { listed, unlisted } = await candidatesOf(broker, target);
  return items.map((advertisement) => {
    const candidate = listed.get(advertisement.clusterID) ?? unlisted;
    return {
      advertisement,
      status: statusOf(advertisement, candidate),
      why: candidate?.message,
      ageMs: candidate?.ageMs ?? at - (parseTime(advertisement.timestamp) ?? at),
    };
  });
}

interface Candidates {
  readonly listed: ReadonlyMap<string, Candidate>;
  /** What holds for all that a long decision leaves out; undefined: they differ, and nobody says how. */
  readonly unlisted: Candidate | undefined;
}

async function candidatesOf(broker: Broker, target?: string): Promise<Candidates> {
  const body = target === undefined ? CRUMB : { ...CRUMB, targetClusterID: target };
  try {
    const { value } = await broker.ask({ method: "POST", path: PATH.quotes, body }, quoteSchema);
    const { candidates, counts } = value.decision;
    const isOnlyRoomShort = Object.keys(counts).every((filter) => filter === "self" || filter === "capacity");
    return {
      listed: new Map(candidates.map((candidate) => [candidate.clusterID, readCandidate(candidate)])),
      unlisted: isOnlyRoomShort ? { ageMs: undefined, refusals: [], message: undefined } : undefined,
    };
  } catch (error) {
    // A busy broker, or a quota: the clusters are shown all the same, with less said of them.
    if (error instanceof Fault) return { listed: new Map(), unlisted: undefined };
    throw error;
  }
}

function readCandidate(candidate: QuoteDTO["decision"]["candidates"][number]): Candidate {
  const { advertisementAge = "", reason, message, alsoRefusedBy = [] } = candidate;
  const parsed = parseDuration(advertisementAge);
  return {
    ageMs: parsed.ok ? parsed.ms : undefined,
    refusals: reason === undefined ? [] : [reason, ...alsoRefusedBy],
    message,
  };
}

function statusOf(advertisement: AdvertisementDTO, candidate: Candidate | undefined): ClusterStatus {
  if (candidate === undefined) return "Unknown";
  const { refusals } = candidate;
  if (refusals.includes("cordoned")) return "Cordoned";
  if (refusals.includes("stale")) return "Stale";
  if (!isZero(overcommittedIn(advertisement))) return "Overcommitted";
  return refusals.includes("capacity") || hasNothingLeft(advertisement) ? "Full" : "Ready";
}

function hasNothingLeft({ resources }: AdvertisementDTO): boolean {
  const { cpuMillis, memoryBytes } = amountsIn(resources.available);
  return cpuMillis === 0 || memoryBytes === 0;
}

/** What the cluster lends beyond what it still has. */
export function overcommittedIn({ resources }: AdvertisementDTO): ResourceVector {
  const { allocatable, allocated, reserved } = resources;
  const held = amountsIn(reserved ?? {});
  const left = subtract(subtract(amountsIn(allocatable), amountsIn(allocated)), held);
  const beyond = (amount: number, promised: number): number => Math.max(0, Math.min(-amount, promised));
  return resourceVector({
    cpuMillis: beyond(left.cpuMillis, held.cpuMillis),
    memoryBytes: beyond(left.memoryBytes, held.memoryBytes),
    gpus: beyond(left.gpus, held.gpus),
    storageBytes: beyond(left.storageBytes, held.storageBytes),
  });
}
