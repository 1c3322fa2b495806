import type { DecisionId } from "../reservation/ids.ts";
import { appraiserFor, NO_RATINGS } from "./appraise.ts";
import type { Candidate } from "./candidate.ts";
import type { Deliberation } from "./deliberation.ts";
import type { CandidateRecord, Decision } from "./decision.ts";
import type { Question } from "./filters.ts";
import { nearestMisses } from "./nearest-misses.ts";
import { firstOf } from "./rank.ts";
import { type ScoreInputs, scoreParts } from "./scorers.ts";

/** Up to this many candidates are recorded one and all; of more, only the first few. */
const RECORD_ALL_UP_TO = 64;
const RECORD_FIRST = 16;

export function recordDecision(id: DecisionId, deliberation: Deliberation): Decision {
  const { question, scale, candidates: considered, fitting, refusedBy } = deliberation;
  const candidates = recordedCandidates(deliberation);
  const [first] = candidates;
  const winner = first?.outcome.kind === "scored" ? { winner: first.clusterId } : {};
  return {
    id,
    at: question.now,
    requester: question.requester,
    request: question.request,
    policyVersion: question.policy.version,
    weights: question.policy.weights,
    currency: question.policy.prices.currency,
    ...winner,
    market: scale.market,
    considered: considered.length,
    fitted: fitting.length,
    refusedBy,
    candidates,
  };
}

function recordedCandidates(deliberation: Deliberation): CandidateRecord[] {
  const { question, candidates, fitting, scores } = deliberation;
  const isFew = candidates.length <= RECORD_ALL_UP_TO;
  const limit = isFew ? RECORD_ALL_UP_TO : RECORD_FIRST;
  const best = firstOf({ fitting, scores, request: question.request.resources }, limit);
  const records = best.flatMap((position) => scoredRecord(position, deliberation));
  if (!isFew && records.length > 0) return records;
  const fitted = new Set(fitting);
  const refused = candidates.filter((candidate) => !fitted.has(candidate));
  const passedOver = isFew ? byClusterId(refused) : nearestMisses(refused, question, limit);
  return [...records, ...passedOver.map((candidate) => refusedRecord(candidate, deliberation))];
}

function scoredRecord(position: number, deliberation: Deliberation): CandidateRecord[] {
  const { question, scale, fitting, scores } = deliberation;
  const candidate = fitting[position];
  const score = scores[position];
  if (candidate === undefined || score === undefined) return [];
  const inputs = inputsOf(candidate, question);
  const parts = scoreParts(question.request.resources, inputs, scale);
  return [{ ...commonRecord(candidate, question, inputs), outcome: { kind: "scored", score, parts } }];
}

function refusedRecord(candidate: Candidate, { question, filters }: Deliberation): CandidateRecord {
  const [first, ...others] = filters.filter((filter) => filter.rejects(candidate, question));
  if (first === undefined) throw new Error(`${candidate.clusterId} was refused by no filter`);
  return {
    ...commonRecord(candidate, question, inputsOf(candidate, question)),
    outcome: {
      kind: "refused",
      refusal: { filter: first.name, ...first.refusal(candidate, question) },
      alsoRefusedBy: others.map((filter) => filter.name),
    },
  };
}

function commonRecord({ clusterId, receivedAt }: Candidate, { now }: Question, inputs: ScoreInputs) {
  return { clusterId, advertisementAgeMs: now - receivedAt, inputs };
}

function inputsOf(candidate: Candidate, question: Question): ScoreInputs {
  const { priceOf, ratingsOf } = appraiserFor(question);
  const price = priceOf(candidate);
  return {
    available: candidate.available,
    allocatable: candidate.advertisement.allocatable,
    reserved: candidate.reserved,
    price: Number.isNaN(price) ? undefined : price,
    ratings: ratingsOf?.(candidate) ?? NO_RATINGS,
  };
}

function byClusterId(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => (a.clusterId < b.clusterId ? -1 : 1));
}
