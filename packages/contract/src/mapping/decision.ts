import { type FaultDetails, formatDuration, formatTime } from "@resource-broker/base";
import {
  type CandidateRecord,
  type CandidateRefusal,
  type Decision,
  explain,
  flipOf,
  headline,
  type NoticeOption,
  type NoticeRecord,
  type Policy,
  type RefusedOutcome,
  refusalsOf,
  withoutAmounts,
} from "@resource-broker/domain";
import { fitToSchema } from "../schema/fit-to-schema.ts";
import { type DecisionDTO, decisionSchema } from "../wire/decision.ts";
import type { RefusalDTO } from "../wire/error.ts";
import { toQuantities, toSomeQuantities } from "./amounts.ts";
import { formatDecimal } from "./cost.ts";
import { present } from "./present.ts";
import { fromReservationRequest } from "./reservation-request.ts";

/** `reasons` for callers that may not see amounts of other clusters; admins always get `full`. */
export type Disclosure = Policy["disclosure"];

/** Whoever may look at all reservations also sees which of them got notice. */
type DecisionView = Disclosure | "admin";

export function fromDecision(decision: Decision, view: DecisionView): DecisionDTO {
  const disclosure = view === "admin" ? "full" : view;
  const isFull = disclosure === "full";
  const { notice, ...withoutNotice } = decision;
  // Refusal messages include texts of other parties and may exceed the schema's limits.
  return fitToSchema(
    decisionSchema,
    present({
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
      candidates: decision.candidates.map(isFull ? fromCandidate : fromCandidateWithoutAmounts),
      notice: view === "admin" ? notice && fromNotice(notice) : undefined,
      flip: disclosedFlip(decision, disclosure),
      explanation: isFull
        ? explain(view === "admin" ? decision : withoutNotice)
        : explainWithoutAmounts(decision),
    }),
  );
}

function fromNotice({ until, chosen, alternatives }: NoticeRecord): NonNullable<DecisionDTO["notice"]> {
  return {
    until: formatTime(until),
    chosen: fromNoticeOption(chosen),
    alternatives: alternatives.map(fromNoticeOption),
  };
}

function fromNoticeOption({ provider, free, victims, share }: NoticeOption) {
  return {
    clusterID: provider,
    free: toQuantities(free),
    victims: victims.map(({ id, priority, tier, reservedAt, frees }) => ({
      reservationID: id,
      priority,
      tier,
      reservedAt: formatTime(reservedAt),
      frees: toQuantities(frees),
    })),
    share,
  };
}

/** Details of a 409 reply: one reason per rejected cluster, and what would have fitted. */
export function refusalDetails(decision: Decision, disclosure: Disclosure): FaultDetails {
  return present({
    reasons: toRefusals(decision, disclosure),
    flip: disclosedFlip(decision, disclosure),
    decisionID: decision.id,
  });
}

/** The flip text contains amounts of other clusters. */
function disclosedFlip(decision: Decision, disclosure: Disclosure): string | undefined {
  return disclosure === "full" ? flipOf(decision) : undefined;
}

/** One reason for each rejected cluster. */
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

function fromCandidateWithoutAmounts({ clusterId, outcome }: CandidateRecord): CandidateDTO {
  if (outcome.kind === "scored") return { clusterID: clusterId };
  return { clusterID: clusterId, reason: outcome.refusal.filter, message: outcome.refusal.summary };
}

function explainWithoutAmounts(decision: Decision): string {
  const lines = disclosedRefusals(decision, "reasons").map(
    ({ clusterId, message }) => `  ${clusterId}  ${message}`,
  );
  return [headline(decision), ...lines].join("\n");
}

function disclosedRefusals(decision: Decision, disclosure: Disclosure): CandidateRefusal[] {
  const refusals = refusalsOf(decision);
  return disclosure === "full" ? refusals : withoutAmounts(refusals);
}
