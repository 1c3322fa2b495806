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

/** What `classifyPod` needs to know of the cluster. */
export interface ClusterView {
  /** Undefined: no such node has been seen. */
  nodeKind(name: string): NodeKind | undefined;
  fitsSomeCountedNode(request: ResourceVector): boolean;
  /** Whether a counted node of that name could hold the request if it were empty. */
  fitsNode(name: string, request: ResourceVector): boolean;
  reservation(id: ReservationId): LiveReservation | undefined;
}

export type NodeKind = "counted" | "uncounted" | "virtual";

/** Why a pod waiting for a node is shown and not counted. */
const PENDING_REASONS = [
  "gated",
  "selects-virtual-node",
  "unreadable",
  "pinned-to-uncounted-node",
  "fits-no-node",
] as const;
export type PendingReason = (typeof PENDING_REASONS)[number];

/** Why a pod is not counted at all. */
const IGNORED_REASONS = ["terminal", "on-virtual-node", "on-uncounted-node", "on-unknown-node"] as const;
export type IgnoredReason = (typeof IGNORED_REASONS)[number];

export type PodClass =
  | { readonly kind: "allocated" }
  | ({ readonly kind: "guest" } & GuestFacts)
  | { readonly kind: "pending-counted" }
  | { readonly kind: "pending-shown"; readonly reason: PendingReason }
  | { readonly kind: "ignored"; readonly reason: IgnoredReason };

const IGNORED_ON: Readonly<Record<Exclude<NodeKind, "counted">, IgnoredReason>> = {
  virtual: "on-virtual-node",
  uncounted: "on-uncounted-node",
};

/**
 * Assigns a pod to exactly one account. A guest pod of a live reservation counts as usage of that reservation, also while
 * it is pending. A guest pod without a matching reservation counts as the cluster's own load, so its capacity is not lent.
 */
export function classifyPod(pod: PodFacts, view: ClusterView): PodClass {
  if (pod.terminal) return { kind: "ignored", reason: "terminal" };
  if (pod.nodeName === undefined) {
    const reason = pendingReason(pod, view);
    if (reason !== undefined) return { kind: "pending-shown", reason };
    return guestClass(pod, view) ?? { kind: "pending-counted" };
  }
  const node = view.nodeKind(pod.nodeName);
  if (node === undefined) return { kind: "ignored", reason: "on-unknown-node" };
  if (node !== "counted") return { kind: "ignored", reason: IGNORED_ON[node] };
  return guestClass(pod, view) ?? { kind: "allocated" };
}

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
export function pendingReason(
  pod: PendingPod,
  view: Omit<ClusterView, "reservation">,
): PendingReason | undefined {
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

/** The live reservation that a guest pod belongs to. */
export function reservationOf(
  guest: GuestFacts,
  view: Pick<ClusterView, "reservation">,
): LiveReservation | undefined {
  const reservation = view.reservation(guest.reservationId);
  if (reservation?.origin !== undefined && reservation.origin !== guest.origin) return undefined;
  return reservation;
}

function guestClass(pod: PodFacts, view: ClusterView): PodClass | undefined {
  if (pod.guest === undefined) return undefined;
  return reservationOf(pod.guest, view) && { kind: "guest", ...pod.guest };
}
