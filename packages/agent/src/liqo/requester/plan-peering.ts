import { parseTime } from "@resource-broker/base";
import { CONFIG_MAPS } from "@resource-broker/kube";
import {
  deleteCommand,
  type ForeignCluster,
  RESOURCE_SLICES,
  type ResourceSlice,
  tenantNamespaceOf,
} from "../objects.ts";
import { create, remove } from "../writes.ts";
import { conditionOf, type DesiredVirtualNode, isOurSlice } from "./desired-virtual-node.ts";
import type { JobKind, JobState } from "./peering-job-runner.ts";
import { changeMarker, dropMarker, markerManifest, type PeeringMarker } from "./peering-marker.ts";
import { act, actWith, type Step, stalled, wait } from "./steps.ts";

type MaybeForeignCluster = ForeignCluster | undefined;

/** After this time without contact to the provider's API server, as Liqo reports it, a peering may be ended by force. */
export const UNREACHABLE_MS = 3_600_000;

/** True while Liqo's role of the cluster is Provider: also while the Secret outlives its Identity, often for hours. */
export function isProvider(foreignCluster: MaybeForeignCluster): boolean {
  const role = foreignCluster?.status?.role;
  return role === "Provider" || role === "ConsumerAndProvider";
}

/** True when Liqo has a live Identity at the provider. Neither the ForeignCluster nor its role proves that. */
export function isPeered(foreignCluster: MaybeForeignCluster): boolean {
  return isProvider(foreignCluster) && identityOf(foreignCluster)?.status === "Ready";
}

/** True when no Identity is left and Liqo has not cleaned up, or has not reconciled since. */
export function isTerminating(foreignCluster: MaybeForeignCluster): boolean {
  return isProvider(foreignCluster) && identityOf(foreignCluster) === undefined;
}

/** True when the other cluster is a consumer of this one. */
export function isConsumer(foreignCluster: MaybeForeignCluster): boolean {
  const role = foreignCluster?.status?.role;
  return role === "Consumer" || role === "ConsumerAndProvider";
}

/** Since when Liqo does not reach the provider's API server; undefined: it is reached, or unknown. */
function unreachableSince(foreignCluster: MaybeForeignCluster) {
  const reach = foreignCluster?.status?.conditions?.find(({ type }) => type === "APIServerStatus");
  return reach?.status === "Error" ? { time: reach.lastTransitionTime } : undefined;
}

/** True when Liqo says that it does not reach the provider's API server. */
export function isUnreachable(foreignCluster: MaybeForeignCluster): boolean {
  return unreachableSince(foreignCluster) !== undefined;
}

/** How long Liqo has not reached the provider's API server; 0: it is reached, or unknown. Liqo keeps the time in the object. */
function unreachableForMs(foreignCluster: MaybeForeignCluster, wallMs: number): number {
  const since = unreachableSince(foreignCluster);
  return since === undefined ? 0 : Math.max(0, wallMs - (parseTime(since.time ?? "") ?? wallMs));
}

function identityOf(foreignCluster: MaybeForeignCluster) {
  const conditions = foreignCluster?.status?.modules?.authentication.conditions ?? [];
  return conditions.find(({ type }) => type === "AuthIdentityControlPlaneStatus");
}

/** What a delivery observes of its peering. */
export interface ObservedPeering {
  readonly foreignCluster: ForeignCluster | undefined;
  readonly marker: PeeringMarker | undefined;
  readonly markerNamespace: string;
  /** Keeps the peering for a while after the last reservation. Undefined: it ends with that. */
  readonly warmClaim?: string | undefined;
  readonly job: JobState;
  readonly slice?: ResourceSlice | undefined;
  /** Why the provider does not let this cluster in, and what a person there can do; undefined: it does, or that is not known. */
  readonly refusal?: string | undefined;
  /** Wall clock, compared with times in Kubernetes objects. */
  readonly wallMs: number;
}

/** Objects may be updated some time after the job has ended. */
const SETTLE_MS = 60_000;

/** The next step until the clusters are peered for the reservation; undefined: they are. */
export function planPeering(desired: DesiredVirtualNode, observed: ObservedPeering): Step | undefined {
  const { marker, job, foreignCluster } = observed;
  const isClaimed = marker?.claims.includes(desired.id) === true;
  const ending = planEnding(desired, observed, isClaimed);
  if (ending !== undefined) return ending;
  const isUsable = isPeered(foreignCluster);
  if (!isClaimed && (marker !== undefined || !isUsable)) return claim(desired, observed);
  // The running job may only finish the cleanup of an earlier peering.
  if (job.kind === "running") return wait("Peering", `the agent peers with ${desired.clusterId}`);
  return isUsable ? undefined : (planWithoutIdentity(desired, observed) ?? planPeer(desired, job));
}

/** The claim is recorded before the clusters peer, with the one that keeps a warm pair. */
function claim(desired: DesiredVirtualNode, { marker, markerNamespace, warmClaim }: ObservedPeering): Step {
  const claims = [desired.id, ...(warmClaim === undefined ? [] : [warmClaim])];
  const write =
    marker === undefined
      ? create(CONFIG_MAPS, markerManifest(markerNamespace, desired, claims))
      : changeMarker(marker, { claims });
  return act("Peering", `about to peer with ${desired.clusterId}`, write);
}

/** A slice that cannot be replicated, because Liqo has no Identity at the provider. */
function planWithoutIdentity(
  { id, clusterId }: DesiredVirtualNode,
  { slice, foreignCluster, refusal }: ObservedPeering,
): Step | undefined {
  if (slice === undefined || !isTerminating(foreignCluster) || !isOurSlice(slice, id)) return undefined;
  if (slice.metadata.deletionTimestamp !== undefined) return undefined;
  if (conditionOf(slice, "Authentication") === undefined) {
    // It also blocks the cleanup of the earlier peering.
    const message = `the slice is not replicated to ${clusterId}: it is created again after peering`;
    return act("SliceRemoved", message, remove(RESOURCE_SLICES, slice));
  }
  const first = refusal === undefined ? "" : `${refusal}; then here: `;
  const remedy = `${first}${deleteCommand(slice)} ends them, and the agent creates the slice again`;
  return stalled(
    "IdentityMissing",
    `Liqo's Identity at ${clusterId} was deleted; running pods continue: ${remedy}`,
  );
}

/** The reservation that claims an ending peering continues to end it, and reopens it when it is live again. */
function planEnding(
  { id, clusterId }: DesiredVirtualNode,
  { marker, job }: ObservedPeering,
  isClaimed: boolean,
): Step | undefined {
  const isUnpeering = job.kind === "running" && job.job !== "peer";
  const isEnding = marker?.isEnding === true;
  if (isUnpeering || (isEnding && !isClaimed && job.kind !== "failed")) {
    return wait("Unpeering", `an earlier peering with ${clusterId} is being ended`);
  }
  if (!isEnding) return undefined;
  const reopen = changeMarker(marker, { claims: [id], isEnding: false });
  return act("Peering", `the peering with ${clusterId} is needed again`, reopen);
}

function planPeer(pair: DesiredVirtualNode, job: JobState): Step {
  const paused = pausedPeer(job);
  if (paused !== undefined) return paused;
  if (job.kind === "done" && job.job === "peer" && job.forMs < SETTLE_MS) {
    const message = `the agent has peered; Liqo does not yet say that ${pair.clusterId} is peered`;
    return wait("AwaitingPeering", message);
  }
  return actWith({ kind: "peer", pair }, "Peering", `the agent peers with ${pair.clusterId}`);
}

function pausedPeer(job: JobState): Step | undefined {
  if (job.kind !== "failed" || job.job !== "peer" || job.retryInMs === 0) return undefined;
  const { reason, message } = job.obstacle;
  return stalled(reason, `${message}; the agent tries again`);
}

/** For a slice that Liqo's replicator does not serve, because the peering was made during an unfinished cleanup. */
export function planPeerAgain(desired: DesiredVirtualNode, observed: ObservedPeering): Step {
  const { marker, job } = observed;
  if (marker?.claims.includes(desired.id) !== true) return claim(desired, observed);
  const message = `Liqo does not replicate slices to ${desired.clusterId}: the clusters are peered again`;
  return pausedPeer(job) ?? actWith({ kind: "peer-again", pair: desired }, "Peering", message);
}

/** What a teardown observes of its peering. */
export interface PeeringState {
  readonly marker: PeeringMarker;
  /** Number of slices towards the provider, whoever created them; unpeering would delete all of them. */
  readonly slices: number;
  /** Number of slices of the other direction: the provider is a consumer here. */
  readonly slicesFrom: number;
  readonly foreignCluster: ForeignCluster | undefined;
  readonly job: JobState;
  /** Wall clock, compared with times in Kubernetes objects. */
  readonly wallMs: number;
}

/**
 * What the provider keeps of a peering that is gone here, such as its Tenant, must not block the end forever.
 * With the backoff between them, these tries take about an hour, like the time before a forced end.
 */
const MAX_TRIES = 14;

/** The last reservation of a pair ends the peering, if this agent made it. Undefined: nothing is left of it. */
export function planUnpeer(id: string, peering: PeeringState | undefined): Step | undefined {
  if (peering === undefined) return undefined;
  const { marker, job, foreignCluster } = peering;
  const isWanted = isInUse(peering, id);
  if (isWanted && !marker.isEnding) return unclaim(id, marker);
  if (job.kind === "running") return planRunning(marker, job.job);
  const isKept = !marker.isBegun || (isWanted && isPeered(foreignCluster));
  if (isKept) return unclaim(id, marker);
  if (!marker.isEnding) {
    // From here on no other reservation may start to use it.
    return act(
      "Unpeering",
      `about to unpeer from ${marker.clusterId}`,
      changeMarker(marker, { isEnding: true }),
    );
  }
  return isOver(peering) ? unclaim(id, marker) : planEnd(peering);
}

function isInUse({ slices, marker }: PeeringState, id: string): boolean {
  return slices > 0 || marker.claims.some((claim) => claim !== id);
}

/** Other reservations need the peering, or it is gone. One that only users' slices need is not this agent's any more. */
function unclaim(id: string, marker: PeeringMarker): Step {
  const message = `the reservation no longer needs the peering with ${marker.clusterId}`;
  if (marker.claims.some((claim) => claim !== id)) {
    return act("Unpeering", message, changeMarker(marker, { unclaim: id, isEnding: false }));
  }
  // The next peering starts without the old failures.
  return { ...act("Unpeering", message, dropMarker(marker)), job: { kind: "forget", pair: marker } };
}

/** The absence of local objects does not prove that the provider has ended the peering. */
function isOver({ job, foreignCluster }: PeeringState): boolean {
  if (isProvider(foreignCluster) || job.kind === "none" || job.job === "peer") return false;
  return job.kind === "done" || (job.kind === "failed" && job.times >= MAX_TRIES);
}

function planRunning(pair: PeeringMarker, job: JobKind): Step {
  if (job === "peer") {
    const message = `the running peering with ${pair.clusterId} is stopped`;
    return actWith({ kind: "abort", pair }, "Unpeering", message);
  }
  const how = job === "unpeer" ? "unpeers from" : "forces the end of the peering with";
  return wait("Unpeering", `the agent ${how} ${pair.clusterId}`);
}

function unpeer(kind: "unpeer" | "force-unpeer", pair: PeeringMarker): Step {
  const how = kind === "unpeer" ? "" : " by force";
  return actWith({ kind, pair }, "Unpeering", `the agent unpeers from ${pair.clusterId}${how}`);
}

function planEnd(peering: PeeringState): Step {
  const { marker, job } = peering;
  if (job.kind === "done" && job.job !== "peer" && job.forMs < SETTLE_MS) {
    const message = `the agent has unpeered; Liqo still says that ${marker.clusterId} is peered`;
    return wait("AwaitingUnpeering", message);
  }
  if (job.kind !== "failed" || job.job === "peer") return unpeer("unpeer", marker);
  const force = planForce(peering, job);
  if (force !== undefined) return force;
  if (job.retryInMs === 0) return unpeer("unpeer", marker);
  const { reason, message } = job.obstacle;
  return stalled(reason, `${message}; the agent tries again`);
}

/** `liqoctl force unpeer` deletes the pair's whole namespace, including what the provider uses here. */
function planForce(peering: PeeringState, job: Extract<JobState, { kind: "failed" }>): Step | undefined {
  const { marker, foreignCluster, wallMs, slicesFrom } = peering;
  if (unreachableForMs(foreignCluster, wallMs) < UNREACHABLE_MS) return undefined;
  if (slicesFrom === 0 && !isConsumer(foreignCluster)) {
    const isPaused = job.job === "force-unpeer" && job.retryInMs > 0;
    return isPaused ? undefined : unpeer("force-unpeer", marker);
  }
  const { clusterId, liqoId } = marker;
  const what = `${clusterId} has not answered for an hour, and its peering is not ended by force: it is a consumer here too, and force would delete its slices`;
  const remedy = `if it is gone for good, end its reservations, then delete Tenant ${liqoId} in ${tenantNamespaceOf(liqoId)}`;
  return stalled("ForceRefused", `${what}; ${remedy}`);
}
