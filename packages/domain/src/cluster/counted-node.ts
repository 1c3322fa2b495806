import type { NodeFacts, Taint } from "./node.ts";
import { isTolerated, type ToleratedTaint } from "./tolerated-taint.ts";

/** Why a node's capacity is not lent: a closed list, so that nodes can be counted by reason. */
export const UNCOUNTED_NODE_REASONS = [
  "virtual",
  "not-ready",
  "unschedulable",
  "tainted",
  "unreadable-pod",
] as const;
export type UncountedNodeReason = (typeof UNCOUNTED_NODE_REASONS)[number];

export type NodeVerdict =
  | { readonly counted: true }
  | { readonly counted: false; readonly reason: UncountedNodeReason; readonly message: string };

const COUNTED: NodeVerdict = { counted: true };
const VIRTUAL: NodeVerdict = {
  counted: false,
  reason: "virtual",
  message: "is a Liqo virtual node: borrowed capacity is never lent",
};
const NOT_READY: NodeVerdict = { counted: false, reason: "not-ready", message: "is not Ready" };
const UNSCHEDULABLE: NodeVerdict = {
  counted: false,
  reason: "unschedulable",
  message: "is cordoned; kubectl uncordon brings it back",
};

/** The free capacity of such a node is unknown, so the whole node is not counted. */
const UNREADABLE_POD: NodeVerdict = {
  counted: false,
  reason: "unreadable-pod",
  message: "runs a pod whose resource requests cannot be read",
};

/**
 * Whether a node's capacity can be lent, and if not, why. The most permanent reason comes first. `unreadablePods` is the
 * number of pods bound to the node whose requests cannot be read.
 */
export function nodeVerdict(
  node: NodeFacts,
  tolerated: readonly ToleratedTaint[],
  unreadablePods = 0,
): NodeVerdict {
  if (node.virtual) return VIRTUAL;
  if (!node.ready) return NOT_READY;
  if (node.unschedulable) return UNSCHEDULABLE;
  const taint = node.taints.find((each) => repels(each) && !isTolerated(each, tolerated));
  if (taint === undefined) return unreadablePods > 0 ? UNREADABLE_POD : COUNTED;
  return {
    counted: false,
    reason: "tainted",
    message: `has the taint ${taintText(taint)}; add it to --tolerated-taints to count the node`,
  };
}

function repels(taint: Taint): boolean {
  return taint.effect === "NoSchedule" || taint.effect === "NoExecute";
}

function taintText({ key, value, effect }: Taint): string {
  return `${key}${value === "" ? "" : `=${value}`}:${effect}`;
}
