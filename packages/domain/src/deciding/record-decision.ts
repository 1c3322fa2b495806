import type { DecisionId } from "../reservation/ids.ts";
import type { Appraiser } from "./appraise.ts";
import type { Candidate } from "./candidate.ts";
import type { Deliberation } from "./deliberation.ts";
import type { CandidateRecord, Decision } from "./decision.ts";
import type { Question } from "./filters.ts";
import { nearestMisses } from "./nearest-misses.ts";
import { firstOf, type Placed } from "./rank.ts";
import { type Raters, type Ratings, type ScoreInputs, scoreParts } from "./scorers.ts";

/** Up to this many candidates are all recorded; of more, only the first 16. */
const RECORD_ALL_UP_TO = 64;
const RECORD_FIRST = 16;

export function recordDecision(id: DecisionId, deliberation: Deliberation): Decision {
  const { question, scale, roster, fitting, refusedBy } = deliberation;
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
    considered: roster.candidates.length,
    fitted: fitting.length,
    refusedBy,
    candidates,
  };
}

function recordedCandidates(deliberation: Deliberation): CandidateRecord[] {
  const { question, appraiser, roster, fitting, scores } = deliberation;
  const { candidates } = roster;
  const isFew = candidates.length <= RECORD_ALL_UP_TO;
  const limit = isFew ? RECORD_ALL_UP_TO : RECORD_FIRST;
  const field = { candidates, positions: fitting, scores, wanted: appraiser.wanted };
  const best = firstOf(field, limit).map((placed) => scoredRecord(placed, deliberation));
  if (!isFew && best.length > 0) return best;
  const fitted = new Set(fitting);
  const refused = candidates.filter((_, position) => !fitted.has(position));
  const passedOver = isFew ? byClusterId(refused) : nearestMisses(refused, question, limit);
  return [...best, ...passedOver.map((candidate) => refusedRecord(candidate, deliberation))];
}

function scoredRecord(
  { candidate, score }: Placed,
  { question, appraiser, scale }: Deliberation,
): CandidateRecord {
  const inputs = inputsOf(candidate, appraiser);
  const parts = scoreParts(appraiser.wanted, inputs, scale);
  return recordOf(candidate, question, { inputs, outcome: { kind: "scored", score, parts } });
}

function refusedRecord(
  candidate: Candidate,
  { question, appraiser, filters }: Deliberation,
): CandidateRecord {
  const [first, ...others] = filters.filter((filter) => filter.rejects(candidate, question));
  if (first === undefined) throw new Error(`${candidate.clusterId} was refused by no filter`);
  return recordOf(candidate, question, {
    inputs: inputsOf(candidate, appraiser),
    outcome: {
      kind: "refused",
      refusal: { filter: first.name, ...first.refusal(candidate, question) },
      alsoRefusedBy: others.map((filter) => filter.name),
    },
  });
}

function recordOf(
  { clusterId, receivedAt }: Candidate,
  { now }: Question,
  { inputs, outcome }: Pick<CandidateRecord, "inputs" | "outcome">,
): CandidateRecord {
  return { clusterId, advertisementAgeMs: now - receivedAt, inputs, outcome };
}

function inputsOf(candidate: Candidate, { priceOf, raters, markOf }: Appraiser): ScoreInputs {
  const price = priceOf(candidate);
  return {
    available: candidate.available,
    allocatable: candidate.advertisement.allocatable,
    reserved: candidate.reserved,
    price: Number.isNaN(price) ? undefined : price,
    ratings: raters.length === 0 ? NO_RATINGS : ratingsOf(candidate, raters, markOf),
  };
}

const NO_RATINGS: Ratings = Object.freeze({});

function ratingsOf(candidate: Candidate, raters: Raters, markOf: Appraiser["markOf"]): Ratings {
  const marks = raters.map(([name]) => [name, markOf(name, candidate)] as const);
  return Object.fromEntries(marks.filter(([, mark]) => !Number.isNaN(mark)));
}

function byClusterId(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => (a.clusterId < b.clusterId ? -1 : 1));
}
