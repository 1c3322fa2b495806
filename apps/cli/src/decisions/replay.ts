import { NO_RESOURCES, parseTime } from "@resource-broker/base";
import { type DecisionDTO, toReservationRequest } from "@resource-broker/contract";
import {
  type CandidateRecord,
  type CandidateStats,
  type Decision,
  FILTER_NAMES,
  type FilterName,
  replayWinner,
} from "@resource-broker/domain";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import type { BROKER_OPTIONS } from "../commands/broker-options.ts";
import { properties } from "../output/print.ts";
import { amountsIn } from "../output/text.ts";
import { readDecision } from "./explain.ts";

export const replay: Run<typeof BROKER_OPTIONS> = ({ options, words: [word = ""] }, host) =>
  withBroker(options, host, async (broker) => {
    const { value } = await readDecision(broker, word);
    const computed = replayWinner(rebuildDecision(value)) ?? "nobody";
    const recorded = value.winner ?? "nobody";
    const isTie = isBetweenEquals(value.candidates, recorded, computed);
    const same = computed === recorded || isTie;
    const verdict = isTie
      ? "same score: the cluster with the lower reserved share won"
      : same
        ? "the same"
        : "another one";
    const difference = `${value.id} records ${recorded}, but the computed winner is ${computed}`;
    return {
      data: { decisionID: value.id, recorded, computed, same, tie: isTie },
      table: () =>
        properties([
          ["Decision", value.id],
          ["Candidates that fitted", String(value.fitted)],
          ["Winner in the record", recorded],
          ["Winner computed again", computed],
          ["Verdict", verdict],
        ]),
      names: [computed],
      problem: same ? undefined : new CommandError("error", difference),
    };
  });

interface Scored {
  readonly clusterID: string;
  readonly score?: number | undefined;
}

/** The broker returns values with 12 digits: scores closer than this are equal. */
const SAME_SCORE = 1e-9;

/** The tie between equal scores is decided by the reserved share, which the broker does not return. */
function isBetweenEquals(candidates: readonly Scored[], one: string, other: string): boolean {
  if (one === other) return false;
  const scoreOf = (id: string): number | undefined =>
    candidates.find(({ clusterID }) => clusterID === id)?.score;
  const [first, second] = [scoreOf(one), scoreOf(other)];
  return first !== undefined && second !== undefined && Math.abs(first - second) < SAME_SCORE;
}

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
