import type { DecisionId } from "../reservation/ids.ts";
import type { PreScoreState } from "./appraise.ts";
import type { Candidate } from "./candidate.ts";
import type { ScoringResult } from "./deliberation.ts";
import type { CandidateRecord, Decision } from "./decision.ts";
import type { SchedulingContext } from "./filters.ts";
import { nearestMisses } from "./nearest-misses.ts";
import { type RankedCandidate, topCandidates } from "./rank.ts";
import { type Ratings, type RatingScorers, type ScoreInputs, scoreParts } from "./scorers.ts";

/** Up to this many candidates are all recorded; of more, only the first 16. */
const RECORD_ALL_UP_TO = 64;
const RECORD_FIRST = 16;

export function recordDecision(id: DecisionId, result: ScoringResult): Decision {
  const { context, scale, table, fitting, refusedBy } = result;
  const candidates = recordedCandidates(result);
  const [first] = candidates;
  const winner = first?.outcome.kind === "scored" ? { winner: first.clusterId } : {};
  return {
    id,
    at: context.now,
    requester: context.requester,
    request: context.request,
    policyVersion: context.policy.version,
    weights: context.policy.weights,
    currency: context.policy.prices.currency,
    ...winner,
    market: scale.stats,
    considered: table.candidates.length,
    fitted: fitting.length,
    refusedBy,
    candidates,
  };
}

function recordedCandidates(result: ScoringResult): CandidateRecord[] {
  const { context, preScored, table, fitting, scores } = result;
  const { candidates } = table;
  const isFew = candidates.length <= RECORD_ALL_UP_TO;
  const limit = isFew ? RECORD_ALL_UP_TO : RECORD_FIRST;
  const scored = { candidates, positions: fitting, scores, requested: preScored.requested };
  const best = topCandidates(scored, limit).map((ranked) => scoredRecord(ranked, result));
  if (!isFew && best.length > 0) return best;
  const fitted = new Set(fitting);
  const refused = candidates.filter((_, position) => !fitted.has(position));
  const passedOver = isFew ? byClusterId(refused) : nearestMisses(refused, context, limit);
  return [...best, ...passedOver.map((candidate) => refusedRecord(candidate, result))];
}

function scoredRecord(
  { candidate, score }: RankedCandidate,
  { context, preScored, scale }: ScoringResult,
): CandidateRecord {
  const inputs = inputsOf(candidate, preScored);
  const parts = scoreParts(preScored.requested, inputs, scale);
  return recordOf(candidate, context, { inputs, outcome: { kind: "scored", score, parts } });
}

function refusedRecord(
  candidate: Candidate,
  { context, preScored, filters }: ScoringResult,
): CandidateRecord {
  const [first, ...others] = filters.filter((filter) => filter.rejects(candidate, context));
  if (first === undefined) throw new Error(`${candidate.clusterId} was refused by no filter`);
  return recordOf(candidate, context, {
    inputs: inputsOf(candidate, preScored),
    outcome: {
      kind: "refused",
      refusal: { filter: first.name, ...first.refusal(candidate, context) },
      alsoRefusedBy: others.map((filter) => filter.name),
    },
  });
}

function recordOf(
  { clusterId, receivedAt }: Candidate,
  { now }: SchedulingContext,
  { inputs, outcome }: Pick<CandidateRecord, "inputs" | "outcome">,
): CandidateRecord {
  return { clusterId, advertisementAgeMs: now - receivedAt, inputs, outcome };
}

function inputsOf(candidate: Candidate, { priceOf, ratingScorers, ratingOf }: PreScoreState): ScoreInputs {
  const price = priceOf(candidate);
  return {
    available: candidate.available,
    allocatable: candidate.advertisement.allocatable,
    reserved: candidate.reserved,
    price: Number.isNaN(price) ? undefined : price,
    ratings: ratingScorers.length === 0 ? NO_RATINGS : ratingsOf(candidate, ratingScorers, ratingOf),
  };
}

const NO_RATINGS: Ratings = Object.freeze({});

function ratingsOf(
  candidate: Candidate,
  ratingScorers: RatingScorers,
  ratingOf: PreScoreState["ratingOf"],
): Ratings {
  const ratings = ratingScorers.map(([name]) => [name, ratingOf(name, candidate)] as const);
  return Object.fromEntries(ratings.filter(([, rating]) => !Number.isNaN(rating)));
}

function byClusterId(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => (a.clusterId < b.clusterId ? -1 : 1));
}
