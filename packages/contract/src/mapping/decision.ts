import {
  type CandidateRecord,
  type CandidateRefusal,
  type Decision,
  explain,
  flipOf,
  headline,
  type Policy,
  type RefusedOutcome,
  refusalsOf,
  withoutFigures,
} from "@resource-broker/domain";
import { formatDuration } from "../schema/duration.ts";
import { formatTime } from "../schema/time.ts";
import type { DecisionDTO } from "../wire/decision.ts";
import type { RefusalDTO } from "../wire/error.ts";
import { toQuantities, toSomeQuantities } from "./amounts.ts";
import { formatDecimal } from "./cost.ts";
import { present } from "./present.ts";
import { fromReservationRequest } from "./reservation-request.ts";

/** `reasons` for callers who may not see other clusters' figures; admins always get `full`. */
export type Disclosure = Policy["disclosure"];

export function fromDecision(decision: Decision, disclosure: Disclosure): DecisionDTO {
  const isFull = disclosure === "full";
  return present({
    id: decision.id,
    at: formatTime(decision.at),
    requesterID: decision.requester,
    request: fromReservationRequest(decision.request),
    policyVersion: decision.policyVersion,
    weights: decision.weights,
    currency: decision.currency,
    winner: decision.winner,
    considered: decision.considered,
    fitted: decision.fitted,
    counts: { ...decision.refusedBy },
    candidates: decision.candidates.map(isFull ? fromCandidate : fromCandidateWithoutFigures),
    flip: isFull ? flipOf(decision) : undefined,
    explanation: isFull ? explain(decision) : explainWithoutFigures(decision),
  });
}

/** One reason for each cluster that was passed over: what a 409 tells its caller. */
export function toRefusals(decision: Decision, disclosure: Disclosure): RefusalDTO[] {
  return disclosedRefusals(decision, disclosure).map(({ clusterId, filter, message, missing }) =>
    present({ clusterID: clusterId, reason: filter, message, missing: missing && toSomeQuantities(missing) }),
  );
}

type CandidateDTO = DecisionDTO["candidates"][number];

function fromCandidate({ clusterId, advertisementAgeMs, inputs, outcome }: CandidateRecord): CandidateDTO {
  return present({
    clusterID: clusterId,
    advertisementAge: formatDuration(Math.max(0, advertisementAgeMs)),
    ...(outcome.kind === "scored" ? { score: outcome.score, parts: outcome.parts } : fromRefusal(outcome)),
    price: inputs.price === undefined ? undefined : formatDecimal(inputs.price),
    available: toQuantities(inputs.available),
    allocatable: toQuantities(inputs.allocatable),
  });
}

function fromRefusal({ refusal, alsoRefusedBy }: RefusedOutcome): Partial<CandidateDTO> {
  return present({
    reason: refusal.filter,
    message: refusal.message,
    missing: refusal.missing && toSomeQuantities(refusal.missing),
    alsoRefusedBy: alsoRefusedBy.length === 0 ? undefined : alsoRefusedBy,
  });
}

function fromCandidateWithoutFigures({ clusterId, outcome }: CandidateRecord): CandidateDTO {
  if (outcome.kind === "scored") return { clusterID: clusterId };
  return { clusterID: clusterId, reason: outcome.refusal.filter, message: outcome.refusal.summary };
}

function explainWithoutFigures(decision: Decision): string {
  const lines = disclosedRefusals(decision, "reasons").map(
    ({ clusterId, message }) => `  ${clusterId}  ${message}`,
  );
  return [headline(decision), ...lines].join("\n");
}

function disclosedRefusals(decision: Decision, disclosure: Disclosure): CandidateRefusal[] {
  const refusals = refusalsOf(decision);
  return disclosure === "full" ? refusals : withoutFigures(refusals);
}
