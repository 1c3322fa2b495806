import { NO_RESOURCES, parseTime } from "@resource-broker/base";
import { type DecisionDTO, toReservationRequest } from "@resource-broker/contract";
import {
  type CandidateRecord,
  type CandidateStats,
  type Decision,
  FILTER_NAMES,
  type FilterName,
} from "@resource-broker/domain";
import { CommandError } from "../cli/exit-code.ts";
import { amountsIn } from "../output/amounts.ts";

type CandidateDTO = DecisionDTO["candidates"][number];

/**
 * Rebuilds the record of a decision from the broker's answer. Missing values are derived: each
 * rating is its part of the score, and the lowest price is a candidate's price times its cost part. Only the
 * amount that was reserved stays unknown; it matters only for equal scores.
 */
export function rebuildDecision(dto: DecisionDTO): Decision {
  const request = toReservationRequest(dto.request);
  const scored = dto.candidates.filter(({ score }) => score !== undefined);
  const hasAmounts = scored.every(
    ({ available, allocatable }) => available !== undefined && allocatable !== undefined,
  );
  if (!request.ok || !hasAmounts || scored.length === 0) {
    throw new CommandError(
      dto.fitted > 0 ? "auth" : "error",
      dto.fitted > 0
        ? `the values of ${dto.id} are not disclosed to you (disclosure: reasons); use an admin's certificate`
        : `${dto.id} has no winner, so there is nothing to compute; brokerctl explain ${dto.id} says why`,
    );
  }
  return {
    id: dto.id,
    at: parseTime(dto.at) ?? 0,
    requester: dto.requesterID,
    request: request.value,
    policyVersion: dto.policyVersion,
    weights: dto.weights,
    currency: dto.currency,
    ...(dto.winner === undefined ? {} : { winner: dto.winner }),
    market: candidateStatsOf(scored),
    considered: dto.considered,
    fitted: dto.fitted,
    refusedBy: Object.fromEntries(Object.entries(dto.counts).filter(([name]) => isFilterName(name))),
    candidates: scored.map(recordOf),
  };
}

function recordOf({
  clusterID,
  score,
  parts = {},
  price,
  available,
  allocatable,
}: CandidateDTO): CandidateRecord {
  const { resources: _resources, cost: _cost, ...ratings } = parts;
  return {
    clusterId: clusterID,
    advertisementAgeMs: 0,
    inputs: {
      available: amountsIn(available ?? {}),
      allocatable: amountsIn(allocatable ?? {}),
      reserved: NO_RESOURCES,
      price: price === undefined ? undefined : Number(price),
      ratings,
    },
    outcome: { kind: "scored", score: score ?? 0, parts },
  };
}

function candidateStatsOf(scored: readonly CandidateDTO[]): CandidateStats {
  const priced = scored.find(({ price, parts }) => price !== undefined && parts?.["cost"] !== undefined);
  const unpriced = scored.find(({ price, parts }) => price === undefined && parts?.["cost"] !== undefined);
  const { resources: _resources, cost: _cost, ...medianRatings } = scored[0]?.parts ?? {};
  const medianCost = unpriced?.parts?.["cost"];
  return {
    ...(priced === undefined ? {} : { lowestPrice: Number(priced.price) * (priced.parts?.["cost"] ?? 0) }),
    ...(medianCost === undefined ? {} : { medianCost }),
    medianRatings,
  };
}

function isFilterName(name: string): name is FilterName {
  return FILTER_NAMES.some((known) => known === name);
}
