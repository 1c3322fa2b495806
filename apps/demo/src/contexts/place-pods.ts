import { larger, NO_RESOURCES, type ResourceVector } from "@resource-broker/base";
import { type ReservationCostDTO, type ReservationRequestDTO, toQuantities } from "@resource-broker/contract";
import type { Answer, LocalBroker } from "./local-broker.ts";
import type { PendingReport, Placement } from "./report.ts";
import type { WaitingGroup } from "./waiting-pods.ts";

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
