import { type DecisionDTO, parseTime, toReservationRequest } from "@resource-broker/contract";
import {
  type CandidateRecord,
  type Decision,
  FILTER_NAMES,
  type FilterName,
  type Market,
  NO_RESOURCES,
} from "@resource-broker/domain";
import { CommandError } from "../cli/exit-code.ts";
import { amountsIn } from "../output/amounts.ts";

type CandidateDTO = DecisionDTO["candidates"][number];

/**
 * The record behind a decision, from what the broker tells of it. What it does not tell follows from what it does: each
 * mark is its own part of the score, and the lowest price is any candidate's price times its part for cost. Only how much
 * was reserved already stays unknown, which matters between equal scores alone.
 */
export function rebuildDecision(dto: DecisionDTO): Decision {
  const request = toReservationRequest(dto.request);
  const scored = dto.candidates.filter(({ score }) => score !== undefined);
  const hasFigures = scored.every(
    ({ available, allocatable }) => available !== undefined && allocatable !== undefined,
  );
  if (!request.ok || !hasFigures || scored.length === 0) {
    throw new CommandError(
      dto.fitted > 0 ? "auth" : "error",
      dto.fitted > 0
        ? `the figures of ${dto.id} are kept from you (disclosure: reasons); an admin's certificate shows them`
        : `${dto.id} chose nobody: there is no winner to compute again; brokerctl explain ${dto.id} says why`,
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
    market: marketOf(scored),
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

function marketOf(scored: readonly CandidateDTO[]): Market {
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
