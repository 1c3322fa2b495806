import { conditionOf, isList, nameOf, objectAt, objectsAt, textAt, textsAt, valueAt } from "../core/look.ts";
import type { JsonObject } from "../json.ts";
import { type Amounts, minus } from "./amounts.ts";

export interface NodeState {
  readonly node: JsonObject;
  readonly allocatable: Amounts;
  /** What the pods on it ask for. */
  readonly used: Amounts;
}

/** Why a pod cannot run on a node, in the scheduler's words; undefined if it can. */
export function refusal(pod: JsonObject, requests: Amounts, state: NodeState): string | undefined {
  const { node } = state;
  const spec = objectAt(pod, "spec");
  if (conditionOf(node, "Ready")?.["status"] !== "True") return "node(s) were not ready";
  const tolerations = objectsAt(spec, "tolerations");
  const isClosed = valueAt(node, "spec.unschedulable") === true;
  if (isClosed && !isTolerated(UNSCHEDULABLE, tolerations)) return "node(s) were unschedulable";
  const taint = objectsAt(node, "spec.taints").find((one) => isHard(one) && !isTolerated(one, tolerations));
  if (taint !== undefined)
    return `node(s) had untolerated taint {${textAt(taint, "key")}: ${textAt(taint, "value")}}`;
  if (!isSelected(spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  return shortage(requests, state);
}

const UNSCHEDULABLE: JsonObject = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function isHard(taint: JsonObject): boolean {
  return taint["effect"] === "NoSchedule" || taint["effect"] === "NoExecute";
}

function isTolerated(taint: JsonObject, tolerations: readonly JsonObject[]): boolean {
  return tolerations.some((toleration) => {
    const key = textAt(toleration, "key");
    const effect = textAt(toleration, "effect");
    if (effect !== "" && effect !== textAt(taint, "effect")) return false;
    if (key !== "" && key !== textAt(taint, "key")) return false;
    return (
      textAt(toleration, "operator") === "Exists" ||
      (key !== "" && textAt(toleration, "value") === textAt(taint, "value"))
    );
  });
}

function isSelected(spec: JsonObject, node: JsonObject): boolean {
  const labels = objectAt(node, "metadata.labels");
  const wanted = Object.entries(objectAt(spec, "nodeSelector"));
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const terms = valueAt(
    spec,
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
  );
  if (!isList(terms)) return true;
  return objectsAt({ terms }, "terms").some((term) => isTermMet(term, labels, nameOf(node)));
}

/** A term that demands nothing selects nothing. */
function isTermMet(term: JsonObject, labels: JsonObject, name: string): boolean {
  const onLabels = objectsAt(term, "matchExpressions");
  const onFields = objectsAt(term, "matchFields");
  if (onLabels.length + onFields.length === 0) return false;
  return (
    onLabels.every((requirement) => isMet(requirement, textOf(labels, textAt(requirement, "key")))) &&
    onFields.every((requirement) => isMet(requirement, name))
  );
}

function textOf(labels: JsonObject, key: string): string | undefined {
  const value = labels[key];
  return typeof value === "string" ? value : undefined;
}

function isMet(requirement: JsonObject, value: string | undefined): boolean {
  const values = textsAt(requirement, "values");
  switch (requirement["operator"]) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function shortage(requests: Amounts, { allocatable, used }: NodeState): string | undefined {
  const free = minus(allocatable, used);
  for (const [name, wanted] of requests) {
    if (wanted > 0 && wanted > (free.get(name) ?? 0))
      return name === "pods" ? "Too many pods" : `Insufficient ${name}`;
  }
  return undefined;
}
