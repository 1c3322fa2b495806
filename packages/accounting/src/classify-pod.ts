import type { ResourceVector } from "@resource-broker/base";
import type { ReservationId } from "@resource-broker/domain";
import type { GuestFacts } from "./node-accounting.ts";
import type { PodFacts } from "./pod.ts";

/** A reservation this cluster holds capacity for. */
export interface LiveReservation {
  readonly id: ReservationId;
  /** The requester's ID in the data plane; when known, only pods from there are its guests. */
  readonly origin?: string | undefined;
}

/** What the accounting of a pod needs to know of the cluster's nodes. */
export interface ClusterView {
  /** Undefined: no such node has been seen. */
  nodeKind(name: string): NodeKind | undefined;
  fitsSomeCountedNode(request: ResourceVector): boolean;
  /** Whether a counted node of that name could hold the request if it were empty. */
  fitsNode(name: string, request: ResourceVector): boolean;
}

export type NodeKind = "counted" | "uncounted" | "virtual";

/** Why a pod waiting for a node is shown and not counted. */
export type PendingReason =
  | "gated"
  | "selects-virtual-node"
  | "unreadable"
  | "pinned-to-uncounted-node"
  | "fits-no-node";

/** What decides whether a pod that waits for a node is counted. */
export type PendingPod = Pick<
  PodFacts,
  "request" | "unreadable" | "gated" | "selectsVirtualNode" | "pinnedNode"
>;

/**
 * Undefined when the pod counts: the scheduler may bind it at any time, so its capacity must not be lent.
 * A pod nominated to a node counts too. Its victims count until they are gone, so the capacity may be counted twice
 * for a while, but never not at all.
 */
export function pendingReason(pod: PendingPod, view: ClusterView): PendingReason | undefined {
  if (pod.gated) return "gated";
  if (pod.selectsVirtualNode) return "selects-virtual-node";
  // The amount is unknown, so the pod fits no node. Once it is bound, its node is not counted.
  if (pod.unreadable) return "unreadable";
  const pinnedTo = pod.pinnedNode === undefined ? undefined : view.nodeKind(pod.pinnedNode);
  if (pod.pinnedNode === undefined || pinnedTo === undefined) {
    return view.fitsSomeCountedNode(pod.request) ? undefined : "fits-no-node";
  }
  if (pinnedTo !== "counted") return "pinned-to-uncounted-node";
  return view.fitsNode(pod.pinnedNode, pod.request) ? undefined : "fits-no-node";
}

/**
 * The live reservation that a guest pod belongs to, whose usage it is, also while it is pending. Undefined: the pod counts as the
 * cluster's own load, so its capacity is not lent.
 */
export function reservationOf(
  guest: GuestFacts,
  reservations: ReadonlyMap<ReservationId, LiveReservation>,
): LiveReservation | undefined {
  const reservation = reservations.get(guest.reservationId);
  if (reservation?.origin !== undefined && reservation.origin !== guest.origin) return undefined;
  return reservation;
}
