import { type PodFacts, podFacts } from "@resource-broker/accounting";
import { liqoAccounting } from "@resource-broker/agent/liqo";
import type { ResourceVector } from "@resource-broker/base";
import { toQuantities } from "@resource-broker/contract";
import { type KubeClient, PODS, type Pod, type Resource } from "@resource-broker/kube";
import type { WaitingState } from "./report.ts";

/** A pod as far as it says why it waits. */
interface WaitingPod extends Pick<Pod, "spec"> {
  readonly metadata?: NonNullable<Pod["metadata"]> & { readonly ownerReferences?: readonly Owner[] };
  readonly status?: Omit<NonNullable<Pod["status"]>, "conditions"> & {
    readonly conditions?: readonly Condition[];
  };
}

interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly controller?: boolean;
}

interface Condition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** As JSON: of the smaller form only what is counted is read, and the scheduler's words are not. */
const WAITING_PODS: Resource<WaitingPod> = {
  group: PODS.group,
  version: PODS.version,
  kind: PODS.kind,
  plural: PODS.plural,
  isNamespaced: PODS.isNamespaced,
};

/** Pods of one workload that wait for the same reason and want the same. */
export interface WaitingGroup {
  readonly namespace: string;
  readonly workload: string;
  readonly request: ResourceVector;
  readonly state: WaitingState;
  readonly why: string;
  pods: number;
}

/** All pods that no node has yet, those of one workload together. */
export async function waitingPods(client: Pick<KubeClient, "list">): Promise<WaitingGroup[]> {
  const groups = new Map<string, WaitingGroup>();
  await client.list(WAITING_PODS, { fieldSelector: "spec.nodeName=" }, (pod) => {
    const { facts } = podFacts(pod, undefined, liqoAccounting);
    if (facts.terminal) return;
    const found = groupFor(pod, facts);
    const key = JSON.stringify([found.namespace, found.workload, found.state, toQuantities(found.request)]);
    const group = groups.get(key) ?? found;
    group.pods += 1;
    groups.set(key, group);
  });
  return [...groups.values()].sort(
    (a, b) => compare(a.namespace, b.namespace) || compare(a.workload, b.workload),
  );
}

function groupFor(pod: WaitingPod, facts: PodFacts): WaitingGroup {
  const { name = "", namespace = "", ownerReferences = [] } = pod.metadata ?? {};
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  return {
    namespace,
    workload: owner === undefined ? `Pod/${name}` : `${owner.kind}/${owner.name}`,
    request: facts.request,
    state: stateOf(facts, scheduled),
    why: scheduled?.message ?? "no scheduler has looked at it yet",
    pods: 0,
  };
}

function stateOf({ gated, pinnedNode, selectsVirtualNode }: PodFacts, scheduled?: Condition): WaitingState {
  if (gated) return "gated";
  if (pinnedNode !== undefined) return "pinned";
  if (selectsVirtualNode) return "borrowing";
  return scheduled?.reason === "Unschedulable" ? "unschedulable" : "unseen";
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
