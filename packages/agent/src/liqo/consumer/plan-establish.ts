import { parseTime } from "@resource-broker/contract";
import type { Patch } from "@resource-broker/kube";
import type { ForeignCluster } from "../objects/foreign-cluster.ts";
import { LIQO_LABEL, tenantNamespaceOf } from "../objects/labels.ts";
import { deleteCommand, type ResourceSlice } from "../objects/resource-slice.ts";
import type { VirtualNode } from "../objects/virtual-node.ts";
import { differences } from "./amounts.ts";
import { isLettingGo, isPeered } from "./foreign-cluster-state.ts";
import { isOurSlice, sliceChange } from "./forge-slice.ts";
import type { LoanWish } from "./loan-wish.ts";
import type { OffloadStep } from "./plan-offload.ts";
import type { JobState } from "./peering-jobs.ts";
import type { PeeringMarker } from "./peering-marker.ts";
import type { Standing } from "./standing.ts";
import { isVirtual, type LoanNode, RELEASING_ANNOTATION } from "./virtual-kinds.ts";

/** Everything that the cluster says of one loan. */
export interface LoanSight {
  readonly foreignCluster: ForeignCluster | undefined;
  readonly marker: PeeringMarker | undefined;
  readonly job: JobState;
  readonly slice: ResourceSlice | undefined;
  readonly virtualNode: VirtualNode | undefined;
  readonly node: LoanNode | undefined;
  /** What the provider says of this cluster. */
  readonly standing: Standing;
  /** What is still to be done for the namespaces that shall use it. */
  readonly offload: OffloadStep;
  /** Wall clock: Kubernetes' times are compared with it. */
  readonly wallMs: number;
}

export interface Waiting {
  readonly kind: "wait";
  readonly reason: string;
  readonly message: string;
  readonly isTrouble?: boolean;
}

export type EstablishStep =
  | Waiting
  | { readonly kind: "ready"; readonly message: string }
  /** Write down that this reservation needs the peering; then run liqoctl, at most one at a time. */
  | { readonly kind: "claim" | "peer" | "create-slice" }
  /** Liqo's replicator does not serve this peering: it was made on the rests of another. */
  | { readonly kind: "peer-anew" }
  /** It is needed again: what only it has claimed nobody else opens, and what cannot be ended stands. */
  | { readonly kind: "reopen"; readonly marker: PeeringMarker }
  /** Nothing brings it to the provider, and it keeps Liqo from letting go of the earlier peering. */
  | { readonly kind: "remove-slice"; readonly slice: ResourceSlice }
  | { readonly kind: "uncordon"; readonly node: LoanNode }
  | { readonly kind: "change-slice"; readonly patch: Patch }
  | Extract<OffloadStep, { readonly kind: "write" }>;

/** Objects may lag behind what liqoctl has done. */
const SETTLE_MS = 60_000;
/** A node that comes up is not ready for a while; one that stays so is worth a word. */
const NODE_PATIENCE_MS = 60_000;

const REPLICATOR_FINALIZER = "crdreplicator.liqo.io/resource";
const IGNORED_MS = 60_000;
/** After so long it is no longer just the usual time that others take. */
const SLICE_PATIENCE_MS = 180_000;

/** What to do next to bring a loan into the cluster. */
export function planEstablish(wish: LoanWish, sight: LoanSight): EstablishStep {
  const step =
    planPeering(wish, sight) ??
    planSlice(wish, sight) ??
    planNode(wish, sight) ??
    planReach(wish, sight) ??
    planUse(wish, sight);
  return step.kind === "wait" ? withRemedy(step, wish, sight) : step;
}

/** Says where to look when what usually goes on by itself does not. */
function withRemedy(step: Waiting, { clusterId, liqoId }: LoanWish, { slice, wallMs }: LoanSight): Waiting {
  const remedies: Readonly<Record<string, string>> = {
    AwaitingAuthentication: `look at Liqo at ${clusterId}, and at its crd-replicator here`,
    AwaitingGrant: `is the agent of ${clusterId} running, with its rights for Liqo?`,
    AwaitingVirtualNode: "look at the controller-manager of Liqo in this cluster",
    AwaitingOffloading: `look at Liqo at ${clusterId}, and at its crd-replicator here`,
    AwaitingNode: `look at the virtual-kubelet in namespace ${tenantNamespaceOf(liqoId)}`,
  };
  const remedy = remedies[step.reason];
  const since = parseTime(slice?.metadata.creationTimestamp ?? "") ?? wallMs;
  if (remedy === undefined || wallMs - since < SLICE_PATIENCE_MS) return step;
  return { ...step, message: `${step.message}: ${remedy}`, isTrouble: true };
}

function planPeering(wish: LoanWish, sight: LoanSight): EstablishStep | undefined {
  const { marker, job, foreignCluster } = sight;
  const isClaimed = marker?.claims.includes(wish.id) === true;
  const ending = planEnding(wish, sight, isClaimed);
  if (ending !== undefined) return ending;
  const isUsable = isPeered(foreignCluster);
  if (!isClaimed && (marker !== undefined || !isUsable)) return { kind: "claim" };
  // It may peer only to end the rests of an earlier peering.
  if (job.kind === "running") return wait("Peering", `liqoctl peers with ${wish.clusterId}`);
  return isUsable ? undefined : (planStranded(wish, sight) ?? planPeer(wish.clusterId, job));
}

/** A slice without the Identity that Liqo brings it to the provider with. */
function planStranded({ id, clusterId }: LoanWish, sight: LoanSight): EstablishStep | undefined {
  const { slice, foreignCluster } = sight;
  if (slice === undefined || !isLettingGo(foreignCluster) || !isOurSlice(slice, id)) return undefined;
  if (slice.metadata.deletionTimestamp !== undefined) return undefined;
  if (conditionOf(slice, "Authentication") === undefined) return { kind: "remove-slice", slice };
  const remedy = `${deleteCommand(slice)} when they may end, and it is asked for anew`;
  return trouble("IdentityMissing", `Liqo's Identity at ${clusterId} was deleted; pods go on: ${remedy}`);
}

/** Whoever has claimed what is being ended ends it, and lives again when it asks here. */
function planEnding({ clusterId }: LoanWish, { marker, job }: LoanSight, isClaimed: boolean) {
  const isUnpeering = job.kind === "running" && job.job !== "peer";
  const isEnding = marker?.isEnding === true;
  if (isUnpeering || (isEnding && !isClaimed && job.kind !== "failed")) {
    return wait("Unpeering", `an earlier peering with ${clusterId} is being ended`);
  }
  return isEnding ? ({ kind: "reopen", marker } as const) : undefined;
}

function planPeer(name: string, job: JobState): EstablishStep {
  const paused = pausedPeer(job);
  if (paused !== undefined) return paused;
  if (job.kind === "done" && job.job === "peer" && job.forMs < SETTLE_MS) {
    return wait("AwaitingPeering", `liqoctl has ended; Liqo does not yet say that ${name} is peered`);
  }
  return { kind: "peer" };
}

function pausedPeer(job: JobState): EstablishStep | undefined {
  if (job.kind !== "failed" || job.job !== "peer" || job.retryInMs === 0) return undefined;
  const { reason, message } = job.obstacle;
  return trouble(reason, `${message}; it is tried again`);
}

function planSlice(wish: LoanWish, sight: LoanSight): EstablishStep | undefined {
  const { slice, virtualNode } = sight;
  if (slice === undefined && virtualNode !== undefined) {
    // Somebody may be unpeering: a slice made now would be left without an Identity.
    return wait("NodeTerminating", `VirtualNode ${wish.id} of an earlier slice is not gone yet`);
  }
  if (slice === undefined) return { kind: "create-slice" };
  const where = `ResourceSlice ${slice.metadata.namespace}/${wish.id}`;
  if (!isOurSlice(slice, wish.id) || slice.spec.providerClusterID !== wish.liqoId) {
    return trouble(
      "SliceConflict",
      `${where} was made by somebody else; to make room: ${deleteCommand(slice)}`,
    );
  }
  if (slice.metadata.deletionTimestamp !== undefined) {
    return wait("SliceTerminating", `${where} is being deleted; a new one is made when it is gone`);
  }
  const patch = sliceChange(slice, wish);
  if (patch !== undefined) return { kind: "change-slice", patch };
  return planIgnored(wish, sight, slice) ?? planGrant(wish, slice);
}

/** The replicator puts its finalizer on every slice that it serves, within moments. */
function planIgnored(wish: LoanWish, sight: LoanSight, slice: ResourceSlice): EstablishStep | undefined {
  const { marker, job, wallMs } = sight;
  const { finalizers = [], creationTimestamp = "" } = slice.metadata;
  const ageMs = wallMs - (parseTime(creationTimestamp) ?? wallMs);
  const isServed = finalizers.includes(REPLICATOR_FINALIZER) || conditionOf(slice, "Authentication");
  if (isServed || ageMs < IGNORED_MS) return undefined;
  if (marker?.claims.includes(wish.id) !== true) return { kind: "claim" };
  return pausedPeer(job) ?? { kind: "peer-anew" };
}

function conditionOf({ status }: ResourceSlice, wanted: "Authentication" | "Resources") {
  return status?.conditions?.find(({ type }) => type === wanted);
}

function planGrant(wish: LoanWish, slice: ResourceSlice): EstablishStep | undefined {
  const { clusterId, resources, unreserved } = wish;
  const { status } = slice;
  const [authentication, grant] = [conditionOf(slice, "Authentication"), conditionOf(slice, "Resources")];
  if (authentication?.status === "Denied") {
    return trouble("AuthenticationDenied", `${clusterId} does not let this cluster in${why(authentication)}`);
  }
  if (authentication === undefined) {
    return wait("AwaitingAuthentication", `${clusterId} has not signed the slice's certificate yet`);
  }
  if (grant?.status === "Denied") {
    return trouble("SliceDenied", `${clusterId} denies the resources${why(grant)}`);
  }
  if (grant === undefined) return wait("AwaitingGrant", `${clusterId} has not granted the resources yet`);
  const wrong = differences(resources, status?.resources, unreserved);
  if (wrong.length === 0) return undefined;
  return trouble("PartialGrant", `${clusterId} grants something else: ${wrong.join(", ")}`);
}

function planNode(wish: LoanWish, sight: LoanSight): EstablishStep | undefined {
  const { id, resources, unreserved } = wish;
  const { virtualNode, node, wallMs } = sight;
  if (virtualNode === undefined)
    return wait("AwaitingVirtualNode", `Liqo has not made VirtualNode ${id} yet`);
  if (node === undefined) return wait("AwaitingNode", `Node ${id} is not there yet`);
  const obstacle = planStanding(wish, virtualNode, node) ?? planReadiness(node, wallMs);
  if (obstacle !== undefined) return obstacle;
  const wrong = differences(resources, node.status?.allocatable, unreserved);
  if (wrong.length === 0) return undefined;
  return trouble("NodeSizeDiffers", `Node ${id} has another size: ${wrong.join(", ")}`);
}

/** Whether it is the right node, and stays. */
function planStanding(wish: LoanWish, virtualNode: VirtualNode, node: LoanNode): EstablishStep | undefined {
  const { id, clusterId, liqoId } = wish;
  const { labels, annotations } = node.metadata;
  if (!isVirtual(node) || labels?.[LIQO_LABEL.remoteCluster] !== liqoId) {
    return trouble("NodeConflict", `Node ${id} is there, and it is not Liqo's node of ${clusterId}`);
  }
  if ([virtualNode, node].some(({ metadata }) => metadata.deletionTimestamp !== undefined)) {
    return wait("NodeTerminating", `Node ${id} is being deleted; Liqo makes a new one when it is gone`);
  }
  return annotations?.[RELEASING_ANNOTATION] === undefined ? undefined : { kind: "uncordon", node };
}

/** A node stays Ready for a while after its provider is gone. */
function planReach(
  { clusterId }: LoanWish,
  { foreignCluster, standing }: LoanSight,
): EstablishStep | undefined {
  const reach = foreignCluster?.status?.conditions?.find(({ type }) => type === "APIServerStatus");
  if (reach?.status === "Established") return planStandingThere(clusterId, standing);
  return trouble("ProviderUnreachable", `Liqo cannot reach ${clusterId}'s API server${why(reach)}`);
}

/** The node stays Ready: its virtual-kubelet asks only whether the API server lives, and is forbidden all else. */
function planStandingThere(clusterId: string, standing: Standing): EstablishStep | undefined {
  if (standing === "let-in" || standing === "unknown") return undefined;
  const remedy = `peer anew (liqoctl peer), or release the reservation`;
  return trouble(
    "TenantMissing",
    `${clusterId} no longer lets this cluster in, its Tenant is gone or drained: ${remedy}`,
  );
}

function planReadiness({ metadata, status }: LoanNode, wallMs: number): EstablishStep | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  const since = parseTime(ready?.lastTransitionTime ?? metadata.creationTimestamp ?? "") ?? wallMs;
  const say = wallMs - since > NODE_PATIENCE_MS ? trouble : wait;
  return say("NodeNotReady", `Node ${metadata.name} is not ready${why(ready)}`);
}

function planUse({ id, clusterId }: LoanWish, { offload }: LoanSight): EstablishStep {
  if (offload.kind === "write") return offload;
  if (offload.kind === "obstacle") return trouble(offload.reason, offload.message);
  if (offload.kind === "pending") return wait("AwaitingOffloading", offload.message);
  return { kind: "ready", message: `virtual node ${id} of ${clusterId} is ready for pods` };
}

function why(said: { readonly reason?: string; readonly message?: string } | undefined): string {
  const parts = [said?.reason, said?.message].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(": ")})`;
}

function wait(reason: string, message: string): Waiting {
  return { kind: "wait", reason, message };
}

function trouble(reason: string, message: string): Waiting {
  return { kind: "wait", reason, message, isTrouble: true };
}
