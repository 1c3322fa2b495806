import type { Resource } from "@resource-broker/kube";
import {
  LIQO_ANNOTATION,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  RESERVATION_NODES,
  RESERVATION_PODS,
  type ReservationNode,
  type ReservationPod,
  RESOURCE_SLICES,
  type ResourceSlice,
  VIRTUAL_NODES,
  type VirtualNode,
} from "../objects.ts";
import { patch, remove, update } from "../writes.ts";
import { CORDONED } from "./plan-establish.ts";
import { closedFor, withoutClaim } from "./plan-offload.ts";
import { type PeeringState, planUnpeer } from "./plan-peering.ts";
import { act, type Step, stalled, wait } from "./steps.ts";

/** All objects of one reservation in this cluster. */
export interface ReservationObjects {
  readonly id: string;
  readonly slices: readonly ResourceSlice[];
  readonly virtualNodes: readonly VirtualNode[];
  /** Its virtual Node. */
  readonly node: ReservationNode | undefined;
  /** Pods to drain: on its node, and those of its namespaces that no other reservation covers. */
  readonly pods: readonly ReservationPod[];
  /** This agent's objects that name the reservation, also while they are being deleted. */
  readonly offloadings: readonly NamespaceOffloading[];
  /** Absent: this agent has no peering for it. */
  readonly peering: PeeringState | undefined;
  /** How long the teardown has been at a stage; the first call starts the time. */
  readonly waitedMs: (stage: TeardownStage) => number;
}

/** Stages that are waited for, each with its own deadline. */
export type TeardownStage = "drain" | "virtual-node" | "node" | "slice" | "offloading";

/** After its deadline a stage is forced; after twice the deadline the teardown continues without it. */
export const DEADLINE_MS: Readonly<Record<TeardownStage, number>> = {
  drain: 120_000,
  "virtual-node": 120_000,
  node: 30_000,
  slice: 120_000,
  offloading: 60_000,
};

/**
 * The next step to remove a reservation from the cluster, in an order that does not break running pods. Undefined:
 * nothing is left.
 */
export function planTeardown(objects: ReservationObjects): Step | undefined {
  return (
    planClosing(objects) ??
    planDrain(objects) ??
    planOffloadings(objects) ??
    planVirtualNode(objects) ??
    planNode(objects) ??
    planSlices(objects) ??
    (objects.node && deleteNode(objects.node)) ??
    planLastOffloadings(objects) ??
    planUnpeer(objects.id, objects.peering)
  );
}

/** Before the pods end, no new ones may be scheduled: neither on its node nor, for its namespaces, on other nodes of the provider. */
function planClosing({ id, node, offloadings }: ReservationObjects): Step | undefined {
  if (node !== undefined && node.spec?.unschedulable !== true) {
    return act(
      "Cordoned",
      `Node ${node.metadata.name} is cordoned`,
      patch(RESERVATION_NODES, node, CORDONED),
    );
  }
  const [closed] = offloadings.filter(isThere).flatMap((found) => closedFor(found, id) ?? []);
  if (closed === undefined) return undefined;
  const message = `new pods of ${closed.metadata.namespace} are no longer offloaded to the provider`;
  return act("Unoffloading", message, update(NAMESPACE_OFFLOADINGS, closed));
}

function isThere({ metadata }: Pick<ReservationNode, "metadata">): boolean {
  return metadata.deletionTimestamp === undefined;
}

function planDrain({ pods, waitedMs }: ReservationObjects): Step | undefined {
  if (pods.length === 0) return undefined;
  const waited = waitedMs("drain");
  if (waited >= 2 * DEADLINE_MS.drain) return undefined;
  const isForced = waited >= DEADLINE_MS.drain;
  const leaving = pods.filter((pod) => isForced || isThere(pod));
  if (leaving.length === 0) return wait("Draining", `${pods.length} pods are terminating at the provider`);
  const writes = leaving.map((pod) => {
    const { uid } = pod.metadata;
    const options = { ...(uid === undefined ? {} : { uid }), ...(isForced ? { gracePeriodSeconds: 0 } : {}) };
    return remove(RESERVATION_PODS, pod, options);
  });
  if (!isForced) return act("Draining", `${leaving.length} pods are being deleted`, ...writes);
  return { ...stalled("ForcingPods", stuckPodsText(leaving)), writes };
}

function stuckPodsText(pods: readonly ReservationPod[]): string {
  const names = pods.slice(0, 5).map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`);
  return `${pods.length} pods did not terminate in time and are deleted by force: ${names.join(", ")}`;
}

/** Objects that other reservations use stay, without this one. */
function planOffloadings({ id, offloadings }: ReservationObjects): Step | undefined {
  const offloading = offloadings.find(isThere);
  if (offloading === undefined) return undefined;
  const rest = withoutClaim(offloading, id);
  if (rest !== undefined) {
    const message = "other reservations still use the namespace's offloading";
    return act("Unoffloading", message, update(NAMESPACE_OFFLOADINGS, rest));
  }
  const message = `${offloading.metadata.namespace} is no longer offloaded`;
  return act("Unoffloading", message, remove(NAMESPACE_OFFLOADINGS, offloading));
}

function planVirtualNode({ slices, virtualNodes, waitedMs }: ReservationObjects): Step | undefined {
  const [virtualNode] = virtualNodes;
  if (virtualNode === undefined) return undefined;
  const annotations = { [LIQO_ANNOTATION.createVirtualNode]: "false" };
  const slice = slices
    .filter(isThere)
    .find(({ metadata }) => metadata.annotations?.[LIQO_ANNOTATION.createVirtualNode] !== "false");
  if (slice !== undefined) {
    const stop = patch(RESOURCE_SLICES, slice, { metadata: { annotations } });
    return act("VirtualNodeLeaving", "Liqo will not create the virtual node again", stop);
  }
  const existing = virtualNodes.find(isThere);
  if (existing !== undefined) {
    const message = `VirtualNode ${existing.metadata.name} was deleted`;
    return act("VirtualNodeLeaving", message, remove(VIRTUAL_NODES, existing));
  }
  const isLate = waitedMs("virtual-node") >= DEADLINE_MS["virtual-node"];
  return waitForDeletion({ resource: VIRTUAL_NODES, object: virtualNode }, "VirtualNodeLeaving", isLate);
}

function planNode({ node, waitedMs }: ReservationObjects): Step | undefined {
  if (node === undefined) return undefined;
  const waited = waitedMs("node");
  // The release of the provider's capacity must not wait for an object in this cluster.
  if (waited >= 2 * DEADLINE_MS.node) return undefined;
  return waited >= DEADLINE_MS.node ? deleteNode(node) : wait("NodeLeaving", deletionText("Node", node));
}

function deleteNode(node: ReservationNode): Step {
  if (!isThere(node)) return stalled("NodeLeaving", deletionText("Node", node));
  const message = `Node ${node.metadata.name} was deleted by the agent, because Liqo did not`;
  return act("NodeLeaving", message, remove(RESERVATION_NODES, node));
}

function planSlices({ slices, waitedMs }: ReservationObjects): Step | undefined {
  const [slice] = slices;
  if (slice === undefined) return undefined;
  const existing = slices.find(isThere);
  if (existing !== undefined) {
    const message = `ResourceSlice ${existing.metadata.name} was deleted`;
    return act("SliceLeaving", message, remove(RESOURCE_SLICES, existing));
  }
  return waitForDeletion(
    { resource: RESOURCE_SLICES, object: slice },
    "SliceLeaving",
    waitedMs("slice") >= DEADLINE_MS.slice,
  );
}

function planLastOffloadings({ offloadings, waitedMs }: ReservationObjects): Step | undefined {
  const [offloading] = offloadings;
  if (offloading === undefined) return undefined;
  const isLate = waitedMs("offloading") >= DEADLINE_MS.offloading;
  return waitForDeletion(
    { resource: NAMESPACE_OFFLOADINGS, object: offloading },
    "OffloadingLeaving",
    isLate,
  );
}

/** Liqo's finalizers are removed when their controller does not; those of other controllers are left alone. */
function waitForDeletion<T extends ResourceSlice | VirtualNode | NamespaceOffloading>(
  { resource, object }: { readonly resource: Resource<T>; readonly object: T },
  reason: string,
  isLate: boolean,
): Step {
  const { name, finalizers = [] } = object.metadata;
  const others = finalizers.filter((finalizer) => !isLiqoFinalizer(finalizer));
  if (!isLate || others.length === finalizers.length) {
    return (isLate ? stalled : wait)(reason, deletionText(resource.kind, object));
  }
  const message = `Liqo did not remove its finalizers from ${resource.kind} ${name}: the agent removed them`;
  const strip = patch(resource, object, { metadata: { finalizers: others } });
  return { ...act("Forced", message, strip), isStalled: true };
}

function deletionText(kind: string, { metadata }: Pick<ReservationNode, "metadata">): string {
  const { name, namespace, finalizers = [] } = metadata;
  const blocked = finalizers.length === 0 ? "" : `; waiting for the finalizers ${finalizers.join(", ")}`;
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name} is being deleted${blocked}`;
}

function isLiqoFinalizer(finalizer: string): boolean {
  return /^(?:[-a-z0-9]+\.)*liqo\.io\//.test(finalizer);
}
