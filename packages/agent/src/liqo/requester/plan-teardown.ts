import type { ResourceSlice } from "../objects/authentication.ts";
import { LIQO_ANNOTATION } from "../objects/labels.ts";
import type { NamespaceOffloading, VirtualNode } from "../objects/offloading.ts";
import { closedFor, withoutClaim } from "./plan-offload.ts";
import { type PeeringState, planUnpeer, type UnpeerStep } from "./plan-unpeer.ts";
import type { ReservationNode, ReservationPod } from "./reservation-nodes.ts";

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

export type TeardownStep =
  | { readonly kind: "clean" }
  | { readonly kind: "wait"; readonly reason: string; readonly message: string; readonly isStalled?: boolean }
  | { readonly kind: "cordon" | "delete-node"; readonly node: ReservationNode }
  | { readonly kind: "delete-pods"; readonly pods: readonly ReservationPod[]; readonly isForced: boolean }
  | {
      readonly kind: "close-offloading" | "shrink-offloading" | "delete-offloading";
      readonly offloading: NamespaceOffloading;
    }
  /** Otherwise Liqo would create the virtual node again. */
  | { readonly kind: "stop-virtual-node" | "delete-slice"; readonly slice: ResourceSlice }
  | { readonly kind: "delete-virtual-node"; readonly virtualNode: VirtualNode }
  /** The controller of these finalizers does not remove them. */
  | {
      readonly kind: "strip";
      readonly what: "slice" | "virtual-node" | "offloading";
      readonly object: ResourceSlice | VirtualNode | NamespaceOffloading;
    }
  | UnpeerStep;

/** The next step to remove a reservation from the cluster, in an order that does not break running pods. */
export function planTeardown(objects: ReservationObjects): TeardownStep {
  return (
    planClosing(objects) ??
    planDrain(objects) ??
    planOffloadings(objects) ??
    planVirtualNode(objects) ??
    planNode(objects) ??
    planSlices(objects) ??
    planLastNode(objects) ??
    planLastOffloadings(objects) ??
    planUnpeer(objects.id, objects.peering)
  );
}

/** Before the pods end, no new ones may be scheduled: neither on its node nor, for its namespaces, on other nodes of the provider. */
function planClosing({ id, node, offloadings }: ReservationObjects): TeardownStep | undefined {
  if (node !== undefined && node.spec?.unschedulable !== true) return { kind: "cordon", node };
  const [offloading] = offloadings
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((found) => closedFor(found, id) ?? []);
  return offloading && { kind: "close-offloading", offloading };
}

function planDrain({ pods, waitedMs }: ReservationObjects): TeardownStep | undefined {
  if (pods.length === 0) return undefined;
  const waited = waitedMs("drain");
  if (waited >= 2 * DEADLINE_MS.drain) return undefined;
  const isForced = waited >= DEADLINE_MS.drain;
  const toDelete = pods.filter(({ metadata }) => isForced || metadata.deletionTimestamp === undefined);
  if (toDelete.length > 0) return { kind: "delete-pods", pods: toDelete, isForced };
  return { kind: "wait", reason: "Draining", message: `${pods.length} pods are terminating at the provider` };
}

/** Objects that other reservations use stay, without this one. */
function planOffloadings({ id, offloadings }: ReservationObjects): TeardownStep | undefined {
  const [offloading] = offloadings.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (offloading === undefined) return undefined;
  const rest = withoutClaim(offloading, id);
  if (rest === undefined) return { kind: "delete-offloading", offloading };
  return { kind: "shrink-offloading", offloading: rest };
}

function planVirtualNode({ slices, virtualNodes, waitedMs }: ReservationObjects): TeardownStep | undefined {
  const [virtualNode] = virtualNodes;
  if (virtualNode === undefined) return undefined;
  const slice = slices.find(
    ({ metadata }) =>
      metadata.deletionTimestamp === undefined &&
      metadata.annotations?.[LIQO_ANNOTATION.createVirtualNode] !== "false",
  );
  if (slice !== undefined) return { kind: "stop-virtual-node", slice };
  const existing = virtualNodes.find(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (existing !== undefined) return { kind: "delete-virtual-node", virtualNode: existing };
  const isLate = waitedMs("virtual-node") >= DEADLINE_MS["virtual-node"];
  return waitForDeletion({ what: "virtual-node", object: virtualNode }, isLate);
}

function planNode({ node, waitedMs }: ReservationObjects): TeardownStep | undefined {
  if (node === undefined) return undefined;
  const waited = waitedMs("node");
  // The release of the provider's capacity must not wait for an object in this cluster.
  if (waited >= 2 * DEADLINE_MS.node) return undefined;
  return waited >= DEADLINE_MS.node ? deleteNode(node) : nodeDeletion(node);
}

function planLastNode({ node }: ReservationObjects): TeardownStep | undefined {
  return node && deleteNode(node);
}

function deleteNode(node: ReservationNode): TeardownStep {
  if (node.metadata.deletionTimestamp === undefined) return { kind: "delete-node", node };
  return { ...nodeDeletion(node), isStalled: true };
}

function nodeDeletion({ metadata: { name, finalizers = [] } }: ReservationNode) {
  const message = `Node ${name} is being deleted${finalizersText(finalizers)}`;
  return { kind: "wait", reason: "NodeLeaving", message } as const;
}

function planSlices({ slices, waitedMs }: ReservationObjects): TeardownStep | undefined {
  const [slice] = slices;
  if (slice === undefined) return undefined;
  const existing = slices.find(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (existing !== undefined) return { kind: "delete-slice", slice: existing };
  return waitForDeletion({ what: "slice", object: slice }, waitedMs("slice") >= DEADLINE_MS.slice);
}

function planLastOffloadings({ offloadings, waitedMs }: ReservationObjects): TeardownStep | undefined {
  const [offloading] = offloadings;
  if (offloading === undefined) return undefined;
  const isLate = waitedMs("offloading") >= DEADLINE_MS.offloading;
  return waitForDeletion({ what: "offloading", object: offloading }, isLate);
}

type Terminating = Pick<Extract<TeardownStep, { kind: "strip" }>, "what" | "object">;

const DELETION_REASONS: Readonly<Record<Terminating["what"], string>> = {
  slice: "SliceLeaving",
  "virtual-node": "VirtualNodeLeaving",
  offloading: "OffloadingLeaving",
};

function waitForDeletion({ what, object }: Terminating, isLate: boolean): TeardownStep {
  const { kind, metadata } = object;
  const { finalizers = [] } = metadata;
  if (isLate && finalizers.some(isLiqoFinalizer)) return { kind: "strip", what, object };
  const message = `${kind} ${metadata.namespace ?? ""}/${metadata.name} is being deleted${finalizersText(finalizers)}`;
  return { kind: "wait", reason: DELETION_REASONS[what], message, isStalled: isLate };
}

function finalizersText(finalizers: readonly string[]): string {
  return finalizers.length === 0 ? "" : `; waiting for the finalizers ${finalizers.join(", ")}`;
}

/** Finalizers of other controllers are left alone. */
export function isLiqoFinalizer(finalizer: string): boolean {
  return /^(?:[-a-z0-9]+\.)*liqo\.io\//.test(finalizer);
}
