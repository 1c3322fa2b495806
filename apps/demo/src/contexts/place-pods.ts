import { type ReservationCostDTO, type ReservationRequestDTO, toQuantities } from "@resource-broker/contract";
import { larger, NO_RESOURCES, type ResourceVector } from "@resource-broker/domain";
import type { Answer, LocalBroker } from "./local-broker.ts";
import type { PendingReport, Taker } from "./report.ts";
import type { WaitingGroup } from "./waiting-pods.ts";

/** More pods than anybody looks at one by one. */
const MOST_ASKED = 500;
/** A reservation has some CPU and some memory, also for a pod that requests neither. */
const LEAST: ResourceVector = { ...NO_RESOURCES, cpuMillis: 1, memoryBytes: 1024 * 1024 };

export interface WaitingCluster {
  readonly clusterId: string;
  readonly groups: readonly WaitingGroup[];
}

type Asked = Pick<LocalBroker, "reserve">;

/** Asks the broker for a place for each pod in turn: one that got a place leaves less for the next. */
export async function placePods(waiting: readonly WaitingCluster[], broker: Asked): Promise<PendingReport[]> {
  const reports: PendingReport[] = [];
  let mayAsk = MOST_ASKED;
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

async function placeGroup({ clusterId, group, asked }: Placing, broker: Asked): Promise<PendingReport> {
  const request = requestFor(group.request);
  const takers = new Map<string, Taker>();
  const told = new Map<string, string>();
  let refusal: Extract<Answer, { kind: "refused" }> | undefined;
  let placed = 0;
  while (placed < asked && refusal === undefined) {
    const answer = await broker.reserve(clusterId, request);
    if (answer.kind === "refused") {
      refusal = answer;
    } else {
      const { targetClusterID, cost } = answer.reservation;
      takers.set(targetClusterID, oneMore(takers.get(targetClusterID), targetClusterID, cost));
      // One for each cluster that takes some: the next pod's differs in little but the figures.
      if (!told.has(targetClusterID)) told.set(targetClusterID, answer.explanation);
      placed++;
    }
  }
  const flip = refusal?.flip;
  return {
    clusterID: clusterId,
    namespace: group.namespace,
    workload: group.workload,
    pods: group.pods,
    each: toQuantities(group.request),
    state: group.state,
    why: group.why,
    takenBy: [...takers.values()],
    left: refusal === undefined ? 0 : asked - placed,
    notAsked: group.state === "unschedulable" ? group.pods - asked : 0,
    decisions: [...told.values(), ...(refusal === undefined ? [] : [refusal.explanation])],
    ...(flip === undefined ? {} : { flip }),
  };
}

/** The whole pod must find room on one single node. */
function requestFor(request: ResourceVector): ReservationRequestDTO {
  const wanted = toQuantities(larger(request, LEAST));
  return { requestedResources: wanted, perNode: wanted };
}

function oneMore(taker: Taker | undefined, clusterID: string, cost: ReservationCostDTO | undefined): Taker {
  return { clusterID, pods: (taker?.pods ?? 0) + 1, ...(cost === undefined ? {} : { cost }) };
}
