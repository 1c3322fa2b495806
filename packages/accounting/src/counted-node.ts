import { quoted } from "@resource-broker/base";
import type { NodeFacts, Taint } from "./node.ts";

const EFFECTS: readonly string[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
/** A Kubernetes label key: an optional DNS prefix, a slash, a name. */
const KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const FORMS = 'Write "key", "key=value", "key:Effect" or "key=value:Effect".';

/** A taint that does not keep a node from being counted. What is absent matches anything. */
export interface ToleratedTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect?: string;
}

export type ToleratedTaintResult =
  | { readonly ok: true; readonly taint: ToleratedTaint }
  | { readonly ok: false; readonly problem: string };

export function parseToleratedTaint(text: string): ToleratedTaintResult {
  const [keyAndValue = "", effect, ...rest] = text.split(":");
  const [key = "", value, ...moreValues] = keyAndValue.split("=");
  const problem = taintProblem({ key, value, effect, surplus: rest.length + moreValues.length });
  if (problem !== undefined) {
    return { ok: false, problem: `${quoted(text)} is not a tolerated taint: ${problem}. ${FORMS}` };
  }
  return {
    ok: true,
    taint: { key, ...(value === undefined ? {} : { value }), ...(effect === undefined ? {} : { effect }) },
  };
}

function isTolerated(taint: Taint, tolerated: readonly ToleratedTaint[]): boolean {
  return tolerated.some(
    ({ key, value, effect }) =>
      key === taint.key &&
      (value === undefined || value === taint.value) &&
      (effect === undefined || effect === taint.effect),
  );
}

interface TaintParts {
  readonly key: string;
  readonly value: string | undefined;
  readonly effect: string | undefined;
  readonly surplus: number;
}

function taintProblem({ key, value, effect, surplus }: TaintParts): string | undefined {
  if (key === "") return "the key is missing";
  if (surplus > 0) return 'it may have one "=" and one ":"';
  if (!KEY.test(key)) return `${quoted(key)} is not a taint key`;
  if (value !== undefined && !VALUE.test(value)) return `${quoted(value)} is not a taint value`;
  if (effect !== undefined && !EFFECTS.includes(effect)) {
    return `${quoted(effect)} is not an effect, known are ${EFFECTS.join(", ")}`;
  }
  return undefined;
}

/** Why a node's capacity is not lent: a closed list, so that nodes can be counted by reason. */
const UNCOUNTED_NODE_REASONS = [
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
