import { nameOf, objectsAt, valueAt } from "../core/look.ts";
import type { JsonObject } from "../json.ts";
import { requestsOf } from "./amounts.ts";
import { type NodeState, refusal } from "./placement.ts";

export type Choice =
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "none"; readonly message: string };

/** The node on which most is left free afterwards; of equal ones the first by name. */
export function chooseNode(pod: JsonObject, nodes: readonly NodeState[]): Choice {
  const unknown = unknownDemand(pod);
  if (unknown !== undefined) return { kind: "none", message: unknown };
  const requests = requestsOf(pod);
  const reasons = new Map<string, number>();
  let best: { readonly name: string; readonly share: number } | undefined;
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
