import type { NodeFacts, Taint } from "./node.ts";
import { isTolerated, type ToleratedTaint } from "./tolerated-taint.ts";

/** Why a node's capacity is not lent: a closed list, so that nodes can be counted by reason. */
export const UNCOUNTED_NODE_REASONS = ["virtual", "not-ready", "unschedulable", "tainted"] as const;
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

/** Whether a node's capacity can be lent, and if not, why. The most lasting reason is named first. */
export function nodeVerdict(node: NodeFacts, tolerated: readonly ToleratedTaint[]): NodeVerdict {
  if (node.virtual) return VIRTUAL;
  if (!node.ready) return NOT_READY;
  if (node.unschedulable) return UNSCHEDULABLE;
  const taint = node.taints.find((each) => repels(each) && !isTolerated(each, tolerated));
  if (taint === undefined) return COUNTED;
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
