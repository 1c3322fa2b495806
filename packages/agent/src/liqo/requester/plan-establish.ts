import { parseTime } from "@resource-broker/base";
import {
  deleteCommand,
  differences,
  isVirtual,
  LIQO_LABEL,
  RESERVATION_NODES,
  type ReservationNode,
  RESOURCE_SLICES,
  type ResourceSlice,
  tenantNamespaceOf,
  type VirtualNode,
} from "../objects.ts";
import { create, patch, type Write } from "../writes.ts";
import type { TenantStatus } from "./peering-checks.ts";
import type { OffloadStep } from "./plan-offload.ts";
import { type ObservedPeering, planPeerAgain, planPeering } from "./plan-peering.ts";
import {
  conditionOf,
  type DesiredVirtualNode,
  isOurSlice,
  refreshNamespaceMap,
  refreshSlice,
  resetSlice,
  sliceManifest,
} from "./desired-virtual-node.ts";
import { act, type Step, stalled, wait } from "./steps.ts";

/** The observed state of one reservation's virtual node. */
export interface ObservedVirtualNode extends ObservedPeering {
  readonly virtualNode?: VirtualNode | undefined;
  readonly node?: ReservationNode | undefined;
  /** Whether the provider accepts this cluster as a tenant. */
  readonly tenantStatus: TenantStatus;
  /** What a person can do where it does not. */
  readonly tenantRemedy: string;
  /** The next step for the namespaces that are to use it. */
  readonly offload?: OffloadStep | undefined;
}

/** The virtual node is ready, or the next step towards that. */
export type EstablishStep = Step | { readonly kind: "ready"; readonly message: string };

/** A new node is not ready for a while; after this time it counts as stalled. */
const NODE_TIMEOUT_MS = 60_000;

const REPLICATOR_FINALIZER = "crdreplicator.liqo.io/resource";
const REPLICATION_TIMEOUT_MS = 60_000;
/** A slice that waits longer than this for another component counts as stalled. */
const SLICE_TIMEOUT_MS = 180_000;

/** Marks a Node that this agent has cordoned, so that it may uncordon it again; a person's cordon stays. */
const RELEASING_ANNOTATION = "rear.fluidos.eu/releasing";
/** Under notice, and before its pods are drained. */
export const CORDONED = {
  metadata: { annotations: { [RELEASING_ANNOTATION]: "true" } },
  spec: { unschedulable: true },
};
const UNCORDONED = {
  metadata: { annotations: { [RELEASING_ANNOTATION]: null } },
  spec: { unschedulable: null },
};

/** Writes that do not change the state: the cordon, the slice's expiry, and what makes Liqo replicate again. */
export function planRefresh(
  desired: DesiredVirtualNode,
  { node, slice, offload, wallMs }: ObservedVirtualNode,
): readonly Write[] {
  return [
    ...(node !== undefined && isNodeOf(desired, node) ? refreshCordon(desired, node) : []),
    ...(slice === undefined ? [] : refreshSlice(slice, desired, wallMs)),
    ...refreshNamespaceMap(desired.liqoId, offload?.since, wallMs),
  ];
}

function refreshCordon({ isUnderNotice }: DesiredVirtualNode, node: ReservationNode): Write[] {
  const { metadata, spec } = node;
  if (metadata.deletionTimestamp !== undefined) return [];
  if (isUnderNotice) return spec?.unschedulable === true ? [] : [patch(RESERVATION_NODES, node, CORDONED)];
  const isMarked = metadata.annotations?.[RELEASING_ANNOTATION] !== undefined;
  return isMarked ? [patch(RESERVATION_NODES, node, UNCORDONED)] : [];
}

/** The next step to bring up the virtual node of a reservation. */
export function planEstablish(desired: DesiredVirtualNode, observed: ObservedVirtualNode): EstablishStep {
  const step =
    planPeering(desired, observed) ??
    planSlice(desired, observed) ??
    planNode(desired, observed) ??
    planReachability(desired, observed) ??
    observed.offload;
  if (step !== undefined) return withRemedy(step, desired, observed);
  return { kind: "ready", message: `virtual node ${desired.id} of ${desired.clusterId} is ready for pods` };
}

/** Adds a hint to a wait that takes longer than usual. */
function withRemedy(
  step: Step,
  { clusterId, liqoId }: DesiredVirtualNode,
  { slice, wallMs }: ObservedVirtualNode,
): Step {
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

function planSlice(desired: DesiredVirtualNode, observed: ObservedVirtualNode): Step | undefined {
  const { slice, virtualNode } = observed;
  const { id, liqoId } = desired;
  if (slice === undefined && virtualNode !== undefined) {
    // Someone may be unpeering: a new slice would have no Identity.
    return wait("NodeTerminating", `VirtualNode ${id} of an earlier slice is not gone yet`);
  }
  if (slice === undefined) return createSlice(desired);
  const where = `ResourceSlice ${slice.metadata.namespace}/${id}`;
  if (!isOurSlice(slice, id) || slice.spec.providerClusterID !== liqoId) {
    const remedy = `to remove it: ${deleteCommand(slice)}`;
    return stalled("SliceConflict", `${where} was made by someone else; ${remedy}`);
  }
  if (slice.metadata.deletionTimestamp !== undefined) {
    return wait("SliceTerminating", `${where} is being deleted; a new one is created afterwards`);
  }
  const reset = resetSlice(slice, desired);
  if (reset !== undefined) return act("SliceChanged", "the slice was reset to the reserved resources", reset);
  return planUnreplicated(desired, observed, slice) ?? planGrant(desired, slice);
}

function createSlice(desired: DesiredVirtualNode): Step {
  const slice = sliceManifest(desired);
  const missing = `namespace ${slice.metadata.namespace} does not exist, though Liqo reports ${desired.clusterId} as peered`;
  return {
    ...act(
      "SliceCreated",
      `${desired.clusterId} was asked for the resources`,
      create(RESOURCE_SLICES, slice),
    ),
    ifMissing: {
      reason: "TenantNamespaceMissing",
      message: `${missing}: peer again with Liqo's default tenant namespace`,
    },
  };
}

/** The replicator adds its finalizer to every slice that it serves, within seconds. A slice without it needs a new peering. */
function planUnreplicated(
  desired: DesiredVirtualNode,
  observed: ObservedVirtualNode,
  slice: ResourceSlice,
): Step | undefined {
  const { wallMs } = observed;
  const { finalizers = [], creationTimestamp = "" } = slice.metadata;
  const ageMs = wallMs - (parseTime(creationTimestamp) ?? wallMs);
  const isServed = finalizers.includes(REPLICATOR_FINALIZER) || conditionOf(slice, "Authentication");
  if (isServed || ageMs < REPLICATION_TIMEOUT_MS) return undefined;
  return planPeerAgain(desired, observed);
}

function planGrant(desired: DesiredVirtualNode, slice: ResourceSlice): Step | undefined {
  const { clusterId, resources, unreserved } = desired;
  const [authentication, grant] = [conditionOf(slice, "Authentication"), conditionOf(slice, "Resources")];
  if (authentication?.status === "Denied") {
    const message = `${clusterId} does not authenticate this cluster${reasonText(authentication)}`;
    return stalled("AuthenticationDenied", message);
  }
  if (authentication === undefined) {
    return wait("AwaitingAuthentication", `${clusterId} has not signed the slice's certificate yet`);
  }
  if (grant?.status === "Denied") {
    return stalled("SliceDenied", `${clusterId} denies the resources${reasonText(grant)}`);
  }
  if (grant === undefined) return wait("AwaitingGrant", `${clusterId} has not granted the resources yet`);
  const differing = differences(resources, slice.status?.resources, unreserved);
  if (differing.length === 0) return undefined;
  return stalled("PartialGrant", `${clusterId} grants other amounts: ${differing.join(", ")}`);
}

function planNode(desired: DesiredVirtualNode, observed: ObservedVirtualNode): Step | undefined {
  const { id, resources, unreserved } = desired;
  const { virtualNode, node, wallMs } = observed;
  if (virtualNode === undefined) {
    return wait("AwaitingVirtualNode", `Liqo has not made VirtualNode ${id} yet`);
  }
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
): Step | undefined {
  const { id, clusterId } = desired;
  if (!isNodeOf(desired, node)) {
    return stalled("NodeConflict", `Node ${id} exists and is not Liqo's node of ${clusterId}`);
  }
  if ([virtualNode, node].some(({ metadata }) => metadata.deletionTimestamp !== undefined)) {
    return wait("NodeTerminating", `Node ${id} is being deleted; Liqo creates a new one afterwards`);
  }
  return undefined;
}

function isNodeOf({ liqoId }: DesiredVirtualNode, node: ReservationNode): boolean {
  return isVirtual(node) && node.metadata.labels?.[LIQO_LABEL.remoteCluster] === liqoId;
}

/** Checks the provider itself: a node stays Ready for a while after its provider is gone. */
function planReachability(
  { clusterId }: DesiredVirtualNode,
  { foreignCluster, tenantStatus, tenantRemedy }: ObservedVirtualNode,
): Step | undefined {
  const reachability = foreignCluster?.status?.conditions?.find(({ type }) => type === "APIServerStatus");
  if (reachability?.status !== "Established") {
    const message = `Liqo cannot reach ${clusterId}'s API server${reasonText(reachability)}`;
    return stalled("ProviderUnreachable", message);
  }
  // The node stays Ready: its virtual-kubelet only checks the API server's health, and all other calls are forbidden.
  if (tenantStatus === "admitted" || tenantStatus === "unknown") return undefined;
  const message = `${clusterId} no longer accepts this cluster, its Tenant is gone or drained: ${tenantRemedy}`;
  return stalled("TenantMissing", message);
}

function planReadiness({ metadata, status }: ReservationNode, wallMs: number): Step | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  const since = parseTime(ready?.lastTransitionTime ?? metadata.creationTimestamp ?? "") ?? wallMs;
  const step = wallMs - since > NODE_TIMEOUT_MS ? stalled : wait;
  return step("NodeNotReady", `Node ${metadata.name} is not ready${reasonText(ready)}`);
}

function reasonText(condition: { readonly reason?: string; readonly message?: string } | undefined): string {
  const parts = [condition?.reason, condition?.message].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(": ")})`;
}
