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
  const { namespace, workload, pods, request, state, why } = group;
  const { takers, decisions, placed, flip } = await askFor(asked, () =>
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
    takenBy: takers,
    left: asked - placed,
    notAsked: state === "unschedulable" ? pods - asked : 0,
    decisions,
    ...(flip === undefined ? {} : { flip }),
  };
}

interface Placed {
  readonly takers: readonly Taker[];
  readonly decisions: readonly string[];
  readonly placed: number;
  readonly flip?: string | undefined;
}

/** Requests so many reservations, or until the first refusal: the next pod has the same request and would be refused, too. */
async function askFor(times: number, reserve: () => Promise<Answer>): Promise<Placed> {
  const takers = new Map<string, Taker>();
  const told = new Map<string, string>();
  for (let placed = 0; placed < times; placed++) {
    const answer = await reserve();
    if (answer.kind === "refused") {
      const decisions = [...told.values(), answer.explanation];
      return { takers: [...takers.values()], decisions, placed, flip: answer.flip };
    }
    const { targetClusterID, cost } = answer.reservation;
    takers.set(targetClusterID, oneMore(takers.get(targetClusterID), targetClusterID, cost));
    // One explanation for each provider: those of further pods are nearly the same.
    if (!told.has(targetClusterID)) told.set(targetClusterID, answer.explanation);
  }
  return { takers: [...takers.values()], decisions: [...told.values()], placed: times };
}

/** The whole pod must find room on one single node. */
function requestFor(request: ResourceVector): ReservationRequestDTO {
  const wanted = toQuantities(larger(request, LEAST));
  return { requestedResources: wanted, perNode: wanted };
}

function oneMore(taker: Taker | undefined, clusterID: string, cost: ReservationCostDTO | undefined): Taker {
  return { clusterID, pods: (taker?.pods ?? 0) + 1, ...(cost === undefined ? {} : { cost }) };
}
