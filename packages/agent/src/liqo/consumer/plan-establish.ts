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

/** The observed state of one reservation's virtual node. */
export interface LoanSight {
  readonly foreignCluster: ForeignCluster | undefined;
  readonly marker: PeeringMarker | undefined;
  readonly job: JobState;
  readonly slice: ResourceSlice | undefined;
  readonly virtualNode: VirtualNode | undefined;
  readonly node: LoanNode | undefined;
  /** Whether the provider accepts this cluster as a tenant. */
  readonly standing: Standing;
  /** The next step for the namespaces that are to use it. */
  readonly offload: OffloadStep;
  /** Wall clock, compared with times in Kubernetes objects. */
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
  /** Record the claim of this reservation; then run liqoctl, at most one at a time. */
  | { readonly kind: "claim" | "peer" | "create-slice" }
  /** Liqo's replicator does not serve this peering, because it was made on top of an unfinished cleanup. */
  | { readonly kind: "peer-anew" }
  /** The peering is needed again while it is being ended: the reservation that claims it reopens it. */
  | { readonly kind: "reopen"; readonly marker: PeeringMarker }
  /** The slice is not replicated, and it blocks the cleanup of the earlier peering. */
  | { readonly kind: "remove-slice"; readonly slice: ResourceSlice }
  | { readonly kind: "uncordon"; readonly node: LoanNode }
  | { readonly kind: "change-slice"; readonly patch: Patch }
  | Extract<OffloadStep, { readonly kind: "write" }>;

/** Objects may be updated some time after liqoctl has ended. */
const SETTLE_MS = 60_000;
/** A new node is not ready for a while; after this time it counts as stalled. */
const NODE_PATIENCE_MS = 60_000;

const REPLICATOR_FINALIZER = "crdreplicator.liqo.io/resource";
const IGNORED_MS = 60_000;
/** After this time, waiting for others counts as stalled. */
const SLICE_PATIENCE_MS = 180_000;

/** The next step to bring up the virtual node of a reservation. */
export function planEstablish(wish: LoanWish, sight: LoanSight): EstablishStep {
  const step =
    planPeering(wish, sight) ??
    planSlice(wish, sight) ??
    planNode(wish, sight) ??
    planReach(wish, sight) ??
    planUse(wish, sight);
  return step.kind === "wait" ? withRemedy(step, wish, sight) : step;
}

/** Adds a hint to a wait that takes longer than usual. */
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
  // The running job may only finish the cleanup of an earlier peering.
  if (job.kind === "running") return wait("Peering", `liqoctl peers with ${wish.clusterId}`);
  return isUsable ? undefined : (planStranded(wish, sight) ?? planPeer(wish.clusterId, job));
}

/** A slice that cannot be replicated, because Liqo has no Identity at the provider. */
function planStranded({ id, clusterId }: LoanWish, sight: LoanSight): EstablishStep | undefined {
  const { slice, foreignCluster } = sight;
  if (slice === undefined || !isLettingGo(foreignCluster) || !isOurSlice(slice, id)) return undefined;
  if (slice.metadata.deletionTimestamp !== undefined) return undefined;
  if (conditionOf(slice, "Authentication") === undefined) return { kind: "remove-slice", slice };
  const remedy = `${deleteCommand(slice)} ends them, and the agent creates the slice again`;
  return trouble(
    "IdentityMissing",
    `Liqo's Identity at ${clusterId} was deleted; running pods continue: ${remedy}`,
  );
}

/** The reservation that claims an ending peering continues to end it, and reopens it when it is live again. */
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
  return trouble(reason, `${message}; the agent tries again`);
}

function planSlice(wish: LoanWish, sight: LoanSight): EstablishStep | undefined {
  const { slice, virtualNode } = sight;
  if (slice === undefined && virtualNode !== undefined) {
    // Someone may be unpeering: a new slice would have no Identity.
    return wait("NodeTerminating", `VirtualNode ${wish.id} of an earlier slice is not gone yet`);
  }
  if (slice === undefined) return { kind: "create-slice" };
  const where = `ResourceSlice ${slice.metadata.namespace}/${wish.id}`;
  if (!isOurSlice(slice, wish.id) || slice.spec.providerClusterID !== wish.liqoId) {
    return trouble(
      "SliceConflict",
      `${where} was made by someone else; to remove it: ${deleteCommand(slice)}`,
    );
  }
  if (slice.metadata.deletionTimestamp !== undefined) {
    return wait("SliceTerminating", `${where} is being deleted; a new one is created afterwards`);
  }
  const patch = sliceChange(slice, wish);
  if (patch !== undefined) return { kind: "change-slice", patch };
  return planIgnored(wish, sight, slice) ?? planGrant(wish, slice);
}

/** The replicator adds its finalizer to every slice that it serves, within moments. */
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
    return trouble(
      "AuthenticationDenied",
      `${clusterId} does not authenticate this cluster${why(authentication)}`,
    );
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
  return trouble("PartialGrant", `${clusterId} grants other amounts: ${wrong.join(", ")}`);
}

function planNode(wish: LoanWish, sight: LoanSight): EstablishStep | undefined {
  const { id, resources, unreserved } = wish;
  const { virtualNode, node, wallMs } = sight;
  if (virtualNode === undefined)
    return wait("AwaitingVirtualNode", `Liqo has not made VirtualNode ${id} yet`);
  if (node === undefined) return wait("AwaitingNode", `Node ${id} does not exist yet`);
  const obstacle = planStanding(wish, virtualNode, node) ?? planReadiness(node, wallMs);
  if (obstacle !== undefined) return obstacle;
  const wrong = differences(resources, node.status?.allocatable, unreserved);
  if (wrong.length === 0) return undefined;
  return trouble("NodeSizeDiffers", `Node ${id} has another size: ${wrong.join(", ")}`);
}

/** Checks that the Node is Liqo's node of this provider and is not being deleted. */
function planStanding(wish: LoanWish, virtualNode: VirtualNode, node: LoanNode): EstablishStep | undefined {
  const { id, clusterId, liqoId } = wish;
  const { labels, annotations } = node.metadata;
  if (!isVirtual(node) || labels?.[LIQO_LABEL.remoteCluster] !== liqoId) {
    return trouble("NodeConflict", `Node ${id} exists and is not Liqo's node of ${clusterId}`);
  }
  if ([virtualNode, node].some(({ metadata }) => metadata.deletionTimestamp !== undefined)) {
    return wait("NodeTerminating", `Node ${id} is being deleted; Liqo creates a new one afterwards`);
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

/** The node stays Ready: its virtual-kubelet only checks the API server's health endpoint, and all other calls are forbidden. */
function planStandingThere(clusterId: string, standing: Standing): EstablishStep | undefined {
  if (standing === "let-in" || standing === "unknown") return undefined;
  const remedy = `peer again (liqoctl peer), or release the reservation`;
  return trouble(
    "TenantMissing",
    `${clusterId} no longer accepts this cluster, its Tenant is gone or drained: ${remedy}`,
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
