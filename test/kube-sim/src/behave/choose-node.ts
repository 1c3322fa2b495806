import { parseAmount } from "@resource-broker/base";
import {
  conditionOf,
  isList,
  type JsonObject,
  type JsonValue,
  nameOf,
  objectAt,
  objectsAt,
  scalarText,
  textAt,
  textsAt,
  valueAt,
} from "../json.ts";

/** Amounts by resource name: thousandths of CPUs, whole units of everything else. */
export type Amounts = ReadonlyMap<string, number>;

export const NOTHING: Amounts = new Map();
const DEFAULT_PODS_PER_NODE = 110;

export interface NodeState {
  readonly node: JsonObject;
  readonly allocatable: Amounts;
  /** What the pods on it ask for. */
  readonly used: Amounts;
}

export type Choice =
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "none"; readonly message: string };

/** The node on which most is left free afterwards; of equal ones the first by name. */
export function chooseNode(pod: JsonObject, nodes: readonly NodeState[]): Choice {
  const unknown = unknownDemand(pod);
  if (unknown !== undefined) return { kind: "none", message: unknown };
  const requests = requestsOf(pod);
  const reasons = new Map<string, number>();
  let best: Candidate | undefined;
  for (const state of nodes) {
    const reason = refusal(pod, requests, state);
    if (reason !== undefined) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      continue;
    }
    const candidate = { name: nameOf(state.node), share: freeShare(state) };
    if (best === undefined || isBetter(candidate, best)) best = candidate;
  }
  return best === undefined
    ? { kind: "none", message: explain(nodes.length, reasons) }
    : { kind: "node", name: best.name };
}

type Candidate = { readonly name: string; readonly share: number };

function isBetter(a: Candidate, b: Candidate): boolean {
  return a.share === b.share ? a.name < b.name : a.share > b.share;
}

function freeShare({ allocatable, used }: NodeState): number {
  const shares = ["cpu", "memory"].map((name) => {
    const all = allocatable.get(name) ?? 0;
    return all === 0 ? 0 : 1 - (used.get(name) ?? 0) / all;
  });
  return shares.reduce((sum, share) => sum + share, 0);
}

function explain(nodes: number, reasons: ReadonlyMap<string, number>): string {
  if (nodes === 0) return "no nodes available to schedule pods";
  const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${parts.join(", ")}.`;
}

const HARD_RULES = [
  "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
  "spec.resourceClaims",
];

/** A demand that is not understood must not be ignored: such a pod waits, and says why. */
function unknownDemand(pod: JsonObject): string | undefined {
  const rule = HARD_RULES.find((path) => valueAt(pod, path) !== undefined);
  if (rule !== undefined) return `the simulated scheduler does not know ${rule}`;
  const isSpread = objectsAt(pod, "spec.topologySpreadConstraints").some(
    (constraint) => constraint["whenUnsatisfiable"] === "DoNotSchedule",
  );
  return isSpread
    ? "the simulated scheduler does not know spec.topologySpreadConstraints with DoNotSchedule"
    : undefined;
}

/** Why a pod cannot run on a node, in the scheduler's words; undefined if it can. */
function refusal(pod: JsonObject, requests: Amounts, state: NodeState): string | undefined {
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
    onLabels.every((requirement) => isMet(requirement, labels[textAt(requirement, "key")])) &&
    onFields.every((requirement) => isMet(requirement, name))
  );
}

function isMet(requirement: JsonObject, value: JsonValue | undefined): boolean {
  const values = textsAt(requirement, "values");
  const isAmong = typeof value === "string" && values.includes(value);
  switch (requirement["operator"]) {
    case "In":
      return isAmong;
    case "NotIn":
      return !isAmong;
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

/** What is set aside for a pod: its containers together, or an init container that needs more. */
export function requestsOf(pod: JsonObject): Amounts {
  const spec = objectAt(pod, "spec");
  let running = objectsAt(spec, "containers").map(containerRequests).reduce(plus, NOTHING);
  let sidecars = NOTHING;
  let starting = NOTHING;
  for (const container of objectsAt(spec, "initContainers")) {
    const own = containerRequests(container);
    starting = combined(starting, plus(sidecars, own), Math.max);
    if (container["restartPolicy"] !== "Always") continue;
    sidecars = plus(sidecars, own);
    running = plus(running, own);
  }
  const containers = combined(running, starting, Math.max);
  return plus(plus(containers, amountsOf(objectAt(spec, "overhead"))), new Map([["pods", 1]]));
}

export function allocatableOf(node: JsonObject): Amounts {
  const status = objectAt(node, "status");
  const given = status["allocatable"] === undefined ? "capacity" : "allocatable";
  return new Map([["pods", DEFAULT_PODS_PER_NODE], ...amountsOf(objectAt(status, given))]);
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (x, y) => x + y);
}

export function minus(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (x, y) => x - y);
}

function containerRequests(container: JsonObject): Amounts {
  return amountsOf(objectAt(container, "resources.requests"));
}

function amountsOf(list: JsonObject): Amounts {
  return new Map(
    Object.entries(list).map(([name, value]): [string, number] => {
      const amount = parseAmount(scalarText(value), {
        unit: name === "cpu" ? "milli" : "one",
        rounding: "up",
      });
      return [name, amount.ok ? amount.amount : 0];
    }),
  );
}

function combined(a: Amounts, b: Amounts, combine: (a: number, b: number) => number): Amounts {
  const names = new Set([...a.keys(), ...b.keys()]);
  return new Map([...names].map((name) => [name, combine(a.get(name) ?? 0, b.get(name) ?? 0)]));
}
