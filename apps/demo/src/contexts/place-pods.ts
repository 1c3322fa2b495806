import { type PodFacts, podFacts } from "@resource-broker/accounting";
import { liqoAccounting } from "@resource-broker/agent/liqo";
import { larger, NO_RESOURCES, type ResourceVector } from "@resource-broker/base";
import { type ReservationCostDTO, type ReservationRequestDTO, toQuantities } from "@resource-broker/contract";
import { type KubeClient, type Pod, PODS, type Resource } from "@resource-broker/kube";
import type { Answer, LocalBroker } from "./local-broker.ts";
import type { PendingReport, Placement, WaitingState } from "./report.ts";

/** More pods than anybody looks at one by one. */
const MAX_REQUESTS = 500;
/** A reservation has some CPU and some memory, also for a pod that requests neither. */
const MIN_REQUEST: ResourceVector = { ...NO_RESOURCES, cpuMillis: 1, memoryBytes: 1024 * 1024 };

export interface WaitingCluster {
  readonly clusterId: string;
  readonly groups: readonly WaitingGroup[];
}

type ReservingBroker = Pick<LocalBroker, "reserve">;

/** Asks the broker for a place for each pod in turn: one that got a place leaves less for the next. */
export async function placePods(
  waiting: readonly WaitingCluster[],
  broker: ReservingBroker,
): Promise<PendingReport[]> {
  const reports: PendingReport[] = [];
  let mayAsk = MAX_REQUESTS;
  for (const { clusterId, groups } of waiting) {
    for (const group of groups) {
      const asked = group.state === "unschedulable" ? Math.min(group.pods, mayAsk) : 0;
      mayAsk -= asked;
      reports.push(await placeGroup({ clusterId, group, asked }, broker));
    }
  }
  return reports;
}

interface Placing {
  readonly clusterId: string;
  readonly group: WaitingGroup;
  readonly asked: number;
}

async function placeGroup(
  { clusterId, group, asked }: Placing,
  broker: ReservingBroker,
): Promise<PendingReport> {
  const { namespace, workload, pods, request, state, why } = group;
  const { placements, decisions, placed, flip } = await reserveUntilRefused(asked, () =>
    broker.reserve(clusterId, requestFor(request)),
  );
  return {
    clusterID: clusterId,
    namespace,
    workload,
    pods,
    each: toQuantities(request),
    state,
    why,
    takenBy: placements,
    left: asked - placed,
    notAsked: state === "unschedulable" ? pods - asked : 0,
    decisions,
    ...(flip === undefined ? {} : { flip }),
  };
}

interface PlacementResult {
  readonly placements: readonly Placement[];
  readonly decisions: readonly string[];
  readonly placed: number;
  readonly flip?: string | undefined;
}

/** Requests so many reservations, or until the first refusal: the next pod has the same request and would be refused, too. */
async function reserveUntilRefused(times: number, reserve: () => Promise<Answer>): Promise<PlacementResult> {
  const takers = new Map<string, Placement>();
  const explanations = new Map<string, string>();
  for (let placed = 0; placed < times; placed++) {
    const answer = await reserve();
    if (answer.kind === "refused") {
      const decisions = [...explanations.values(), answer.explanation];
      return { placements: [...takers.values()], decisions, placed, flip: answer.flip };
    }
    const { targetClusterID, cost } = answer.reservation;
    takers.set(targetClusterID, oneMore(takers.get(targetClusterID), targetClusterID, cost));
    // One explanation for each provider: those of further pods are nearly the same.
    if (!explanations.has(targetClusterID)) explanations.set(targetClusterID, answer.explanation);
  }
  return { placements: [...takers.values()], decisions: [...explanations.values()], placed: times };
}

/** The whole pod must find room on one single node. */
function requestFor(request: ResourceVector): ReservationRequestDTO {
  const wanted = toQuantities(larger(request, MIN_REQUEST));
  return { requestedResources: wanted, perNode: wanted };
}

function oneMore(
  taker: Placement | undefined,
  clusterID: string,
  cost: ReservationCostDTO | undefined,
): Placement {
  return { clusterID, pods: (taker?.pods ?? 0) + 1, ...(cost === undefined ? {} : { cost }) };
}

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
