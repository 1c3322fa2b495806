import { parseTime } from "@resource-broker/base";
import type { Patch } from "@resource-broker/kube";
import { deleteCommand, type ResourceSlice } from "../objects/authentication.ts";
import type { ForeignCluster } from "../objects/core.ts";
import { LIQO_LABEL, tenantNamespaceOf } from "../objects/labels.ts";
import type { VirtualNode } from "../objects/offloading.ts";
import type { DesiredVirtualNode } from "./desired-virtual-node.ts";
import { isPeered, isTerminating } from "./foreign-cluster-state.ts";
import type { TenantStatus } from "./peering-checks.ts";
import type { JobState } from "./peering-job-runner.ts";
import type { PeeringMarker } from "./peering-store.ts";
import type { OffloadStep } from "./plan-offload.ts";
import { isVirtual, RELEASING_ANNOTATION, type ReservationNode } from "./reservation-nodes.ts";
import { differences } from "./slice-amounts.ts";
import { isOurSlice, slicePatch } from "./slice-manifest.ts";

/** The observed state of one reservation's virtual node. */
export interface ObservedVirtualNode {
  readonly foreignCluster: ForeignCluster | undefined;
  readonly marker: PeeringMarker | undefined;
  readonly job: JobState;
  readonly slice: ResourceSlice | undefined;
  readonly virtualNode: VirtualNode | undefined;
  readonly node: ReservationNode | undefined;
  /** Whether the provider accepts this cluster as a tenant. */
  readonly tenantStatus: TenantStatus;
  /** The next step for the namespaces that are to use it. */
  readonly offload: OffloadStep;
  /** Wall clock, compared with times in Kubernetes objects. */
  readonly wallMs: number;
}

export interface WaitStep {
  readonly kind: "wait";
  readonly reason: string;
  readonly message: string;
  readonly isStalled?: boolean;
}

export type EstablishStep =
  | WaitStep
  | { readonly kind: "ready"; readonly message: string }
  /** Record the claim of this reservation, run `liqoctl peer`, or create the slice. */
  | { readonly kind: "claim" | "peer" | "create-slice" }
  /** Liqo's replicator ignores this peering, because it was made during an unfinished cleanup: end it and peer again. */
  | { readonly kind: "peer-again" }
  /** The peering is being ended and is needed again: it is kept. */
  | { readonly kind: "reopen"; readonly marker: PeeringMarker }
  /** The slice is not replicated, and it blocks the cleanup of the earlier peering. */
  | { readonly kind: "remove-slice"; readonly slice: ResourceSlice }
  | { readonly kind: "uncordon"; readonly node: ReservationNode }
  | { readonly kind: "change-slice"; readonly patch: Patch }
  | Extract<OffloadStep, { readonly kind: "write" }>;

/** Objects may be updated some time after liqoctl has ended. */
const SETTLE_MS = 60_000;
/** A new node is not ready for a while; after this time it counts as stalled. */
const NODE_TIMEOUT_MS = 60_000;

const REPLICATOR_FINALIZER = "crdreplicator.liqo.io/resource";
const REPLICATION_TIMEOUT_MS = 60_000;
/** A slice that waits longer than this for another component counts as stalled. */
const SLICE_TIMEOUT_MS = 180_000;

/** The next step to bring up the virtual node of a reservation. */
export function planEstablish(desired: DesiredVirtualNode, observed: ObservedVirtualNode): EstablishStep {
  const step =
    planPeering(desired, observed) ??
    planSlice(desired, observed) ??
    planNode(desired, observed) ??
    planReachability(desired, observed) ??
    planNamespaces(desired, observed);
  return step.kind === "wait" ? withRemedy(step, desired, observed) : step;
}

/** Adds a hint to a wait that takes longer than usual. */
function withRemedy(
  step: WaitStep,
  { clusterId, liqoId }: DesiredVirtualNode,
  { slice, wallMs }: ObservedVirtualNode,
): WaitStep {
  const remedies: Readonly<Record<string, string>> = {
    AwaitingAuthentication: `look at Liqo at ${clusterId}, and at its crd-replicator here`,
    AwaitingGrant: `is the agent of ${clusterId} running, with its rights for Liqo?`,
    AwaitingVirtualNode: "look at the controller-manager of Liqo in this cluster",
    AwaitingOffloading: `look at Liqo at ${clusterId}, and at its crd-replicator here`,
    AwaitingNode: `look at the virtual-kubelet in namespace ${tenantNamespaceOf(liqoId)}`,
  };
  const remedy = remedies[step.reason];
  const since = parseTime(slice?.metadata.creationTimestamp ?? "") ?? wallMs;
  if (remedy === undefined || wallMs - since < SLICE_TIMEOUT_MS) return step;
  return { ...step, message: `${step.message}: ${remedy}`, isStalled: true };
}

function planPeering(desired: DesiredVirtualNode, observed: ObservedVirtualNode): EstablishStep | undefined {
  const { marker, job, foreignCluster } = observed;
  const isClaimed = marker?.claims.includes(desired.id) === true;
  const ending = planEnding(desired, observed, isClaimed);
  if (ending !== undefined) return ending;
  const isUsable = isPeered(foreignCluster);
  if (!isClaimed && (marker !== undefined || !isUsable)) return { kind: "claim" };
  // The running job may only finish the cleanup of an earlier peering.
  if (job.kind === "running") return wait("Peering", `liqoctl peers with ${desired.clusterId}`);
  return isUsable ? undefined : (planWithoutIdentity(desired, observed) ?? planPeer(desired.clusterId, job));
}

/** A slice that cannot be replicated, because Liqo has no Identity at the provider. */
function planWithoutIdentity(
  { id, clusterId }: DesiredVirtualNode,
  observed: ObservedVirtualNode,
): EstablishStep | undefined {
  const { slice, foreignCluster } = observed;
  if (slice === undefined || !isTerminating(foreignCluster) || !isOurSlice(slice, id)) return undefined;
  if (slice.metadata.deletionTimestamp !== undefined) return undefined;
  if (conditionOf(slice, "Authentication") === undefined) return { kind: "remove-slice", slice };
  const remedy = `${deleteCommand(slice)} ends them, and the agent creates the slice again`;
  return stalled(
    "IdentityMissing",
    `Liqo's Identity at ${clusterId} was deleted; running pods continue: ${remedy}`,
  );
}

/** The reservation that claims an ending peering continues to end it, and reopens it when it is live again. */
function planEnding(
  { clusterId }: DesiredVirtualNode,
  { marker, job }: ObservedVirtualNode,
  isClaimed: boolean,
) {
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
  return stalled(reason, `${message}; the agent tries again`);
}

function planSlice(desired: DesiredVirtualNode, observed: ObservedVirtualNode): EstablishStep | undefined {
  const { slice, virtualNode } = observed;
  if (slice === undefined && virtualNode !== undefined) {
    // Someone may be unpeering: a new slice would have no Identity.
    return wait("NodeTerminating", `VirtualNode ${desired.id} of an earlier slice is not gone yet`);
  }
  if (slice === undefined) return { kind: "create-slice" };
  const where = `ResourceSlice ${slice.metadata.namespace}/${desired.id}`;
  if (!isOurSlice(slice, desired.id) || slice.spec.providerClusterID !== desired.liqoId) {
    return stalled(
      "SliceConflict",
      `${where} was made by someone else; to remove it: ${deleteCommand(slice)}`,
    );
  }
  if (slice.metadata.deletionTimestamp !== undefined) {
    return wait("SliceTerminating", `${where} is being deleted; a new one is created afterwards`);
  }
  const patch = slicePatch(slice, desired);
  if (patch !== undefined) return { kind: "change-slice", patch };
  return planUnreplicated(desired, observed, slice) ?? planGrant(desired, slice);
}

/** The replicator adds its finalizer to every slice that it serves, within seconds. A slice without it needs a new peering. */
function planUnreplicated(
  desired: DesiredVirtualNode,
  observed: ObservedVirtualNode,
  slice: ResourceSlice,
): EstablishStep | undefined {
  const { marker, job, wallMs } = observed;
  const { finalizers = [], creationTimestamp = "" } = slice.metadata;
  const ageMs = wallMs - (parseTime(creationTimestamp) ?? wallMs);
  const isServed = finalizers.includes(REPLICATOR_FINALIZER) || conditionOf(slice, "Authentication");
  if (isServed || ageMs < REPLICATION_TIMEOUT_MS) return undefined;
  if (marker?.claims.includes(desired.id) !== true) return { kind: "claim" };
  return pausedPeer(job) ?? { kind: "peer-again" };
}

function conditionOf({ status }: ResourceSlice, wanted: "Authentication" | "Resources") {
  return status?.conditions?.find(({ type }) => type === wanted);
}

function planGrant(desired: DesiredVirtualNode, slice: ResourceSlice): EstablishStep | undefined {
  const { clusterId, resources, unreserved } = desired;
  const { status } = slice;
  const [authentication, grant] = [conditionOf(slice, "Authentication"), conditionOf(slice, "Resources")];
  if (authentication?.status === "Denied") {
    return stalled(
      "AuthenticationDenied",
      `${clusterId} does not authenticate this cluster${reasonText(authentication)}`,
    );
  }
  if (authentication === undefined) {
    return wait("AwaitingAuthentication", `${clusterId} has not signed the slice's certificate yet`);
  }
  if (grant?.status === "Denied") {
    return stalled("SliceDenied", `${clusterId} denies the resources${reasonText(grant)}`);
  }
  if (grant === undefined) return wait("AwaitingGrant", `${clusterId} has not granted the resources yet`);
  const differing = differences(resources, status?.resources, unreserved);
  if (differing.length === 0) return undefined;
  return stalled("PartialGrant", `${clusterId} grants other amounts: ${differing.join(", ")}`);
}

function planNode(desired: DesiredVirtualNode, observed: ObservedVirtualNode): EstablishStep | undefined {
  const { id, resources, unreserved } = desired;
  const { virtualNode, node, wallMs } = observed;
  if (virtualNode === undefined)
    return wait("AwaitingVirtualNode", `Liqo has not made VirtualNode ${id} yet`);
  if (node === undefined) return wait("AwaitingNode", `Node ${id} does not exist yet`);
  const obstacle = planNodeIdentity(desired, virtualNode, node) ?? planReadiness(node, wallMs);
  if (obstacle !== undefined) return obstacle;
  const differing = differences(resources, node.status?.allocatable, unreserved);
  if (differing.length === 0) return undefined;
  return stalled("NodeSizeDiffers", `Node ${id} has another size: ${differing.join(", ")}`);
}

/** Checks that the Node is Liqo's node of this provider and is not being deleted. */
function planNodeIdentity(
  desired: DesiredVirtualNode,
  virtualNode: VirtualNode,
  node: ReservationNode,
): EstablishStep | undefined {
  const { id, clusterId, liqoId } = desired;
  const { labels, annotations } = node.metadata;
  if (!isVirtual(node) || labels?.[LIQO_LABEL.remoteCluster] !== liqoId) {
    return stalled("NodeConflict", `Node ${id} exists and is not Liqo's node of ${clusterId}`);
  }
  if ([virtualNode, node].some(({ metadata }) => metadata.deletionTimestamp !== undefined)) {
    return wait("NodeTerminating", `Node ${id} is being deleted; Liqo creates a new one afterwards`);
  }
  return annotations?.[RELEASING_ANNOTATION] === undefined ? undefined : { kind: "uncordon", node };
}

/** Checks the provider itself: a node stays Ready for a while after its provider is gone. */
function planReachability(
  { clusterId }: DesiredVirtualNode,
  { foreignCluster, tenantStatus }: ObservedVirtualNode,
): EstablishStep | undefined {
  const reachability = foreignCluster?.status?.conditions?.find(({ type }) => type === "APIServerStatus");
  if (reachability?.status === "Established") return planTenant(clusterId, tenantStatus);
  return stalled(
    "ProviderUnreachable",
    `Liqo cannot reach ${clusterId}'s API server${reasonText(reachability)}`,
  );
}

/** The node stays Ready: its virtual-kubelet only checks the API server's health endpoint, and all other calls are forbidden. */
function planTenant(clusterId: string, tenantStatus: TenantStatus): EstablishStep | undefined {
  if (tenantStatus === "admitted" || tenantStatus === "unknown") return undefined;
  const remedy = `peer again (liqoctl peer), or release the reservation`;
  return stalled(
    "TenantMissing",
    `${clusterId} no longer accepts this cluster, its Tenant is gone or drained: ${remedy}`,
  );
}

function planReadiness({ metadata, status }: ReservationNode, wallMs: number): EstablishStep | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  const since = parseTime(ready?.lastTransitionTime ?? metadata.creationTimestamp ?? "") ?? wallMs;
  const step = wallMs - since > NODE_TIMEOUT_MS ? stalled : wait;
  return step("NodeNotReady", `Node ${metadata.name} is not ready${reasonText(ready)}`);
}

function planNamespaces(
  { id, clusterId }: DesiredVirtualNode,
  { offload }: ObservedVirtualNode,
): EstablishStep {
  if (offload.kind === "write") return offload;
  if (offload.kind === "obstacle") return stalled(offload.reason, offload.message);
  if (offload.kind === "pending") return wait("AwaitingOffloading", offload.message);
  return { kind: "ready", message: `virtual node ${id} of ${clusterId} is ready for pods` };
}

function reasonText(condition: { readonly reason?: string; readonly message?: string } | undefined): string {
  const parts = [condition?.reason, condition?.message].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(": ")})`;
}

function wait(reason: string, message: string): WaitStep {
  return { kind: "wait", reason, message };
}

function stalled(reason: string, message: string): WaitStep {
  return { kind: "wait", reason, message, isStalled: true };
}
