import { amountOf, resourceNames, shortage } from "@resource-broker/base";
import type { ClusterId, DecisionId } from "../reservation/ids.ts";
import type { Candidate, CandidateTableView } from "./candidate-table.ts";
import type { CandidateRecord, Decision } from "./decision.ts";
import type { FilterResult } from "./filter-candidates.ts";
import { FILTERS } from "./filters.ts";
import type { SchedulingContext } from "./scheduling-context.ts";
import type { PreScoreState } from "./pre-score.ts";
import {
  computeScore,
  type Ratings,
  type RatingScorers,
  type RequestSummary,
  reservedShare,
  type Scale,
  type ScoreInputs,
  scoreParts,
  summarizeRequest,
  weightingOf,
} from "./scorers.ts";

/** Input of the decision record: filter result, context and scores. */
interface ScoringResult extends FilterResult {
  readonly context: SchedulingContext;
  readonly preScored: PreScoreState;
  readonly table: CandidateTableView;
  readonly scale: Scale;
  readonly scores: Float64Array;
}

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
  const listed = isFew ? byClusterId(refused) : nearestMisses(refused, context, limit);
  return [...best, ...listed.map((candidate) => refusedRecord(candidate, result))];
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

const NO_RATINGS: Ratings = /* @__PURE__ */ Object.freeze({});

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

/** The rejected candidates closest to fitting: fewest rejecting filters first, then the smallest shortage. */
function nearestMisses(
  refused: readonly Candidate[],
  context: SchedulingContext,
  limit: number,
): Candidate[] {
  const filters = FILTERS.filter((filter) => filter.applies(context));
  const reasonsFor = (candidate: Candidate) =>
    filters.filter((filter) => filter.rejects(candidate, context)).length;
  return refused
    .map((candidate) => ({
      candidate,
      reasons: reasonsFor(candidate),
      distance: distanceOf(candidate, context),
    }))
    .sort(
      (a, b) =>
        a.reasons - b.reasons ||
        a.distance - b.distance ||
        (a.candidate.clusterId < b.candidate.clusterId ? -1 : 1),
    )
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Sum of the missing shares of the requested resources; infinite for the requester itself. */
function distanceOf(candidate: Candidate, { requester, request }: SchedulingContext): number {
  if (candidate.clusterId === requester) return Number.POSITIVE_INFINITY;
  const missing = shortage(request.resources, candidate.available);
  let distance = 0;
  for (const name of resourceNames(missing)) {
    distance += amountOf(missing, name) / amountOf(request.resources, name);
  }
  return distance;
}

/** Recomputes the winner from the decision record with the scoring code of the live path. */
export function replayWinner(decision: Decision): ClusterId | undefined {
  const { market: stats, request } = decision;
  const requested = summarizeRequest(request.resources);
  const scale = { stats, weighting: weightingOf(decision.weights, stats) };
  const ranked = decision.candidates
    .filter(({ outcome }) => outcome.kind === "scored")
    .map(({ clusterId, inputs }) => ({
      clusterId,
      score: computeScore(request.resources, inputs, scale),
      reservedShare: reservedShare(requested, inputs),
    }));
  return ranked.sort(compareRank)[0]?.clusterId;
}

/** Sort key of candidates: score, then reserved share, then cluster ID. */
interface RankKey {
  readonly clusterId: ClusterId;
  readonly score: number;
  readonly reservedShare: number;
}

/** Negative when `a` ranks before `b`. */
function compareRank(a: RankKey, b: RankKey): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.reservedShare !== b.reservedShare) return a.reservedShare - b.reservedShare;
  return a.clusterId < b.clusterId ? -1 : 1;
}

/** Candidates and their scores: the candidate at `positions[i]` of the table has `scores[i]`. */
interface ScoredCandidates {
  readonly candidates: readonly Candidate[];
  readonly positions: Int32Array;
  readonly scores: Float64Array;
  readonly requested: RequestSummary;
}

interface RankedCandidate extends RankKey {
  readonly candidate: Candidate;
}

/** The first `limit` candidates, best first, without sorting the rest. */
function topCandidates(scored: ScoredCandidates, limit: number): RankedCandidate[] {
  const { scores } = scored;
  const top: RankedCandidate[] = [];
  let last: RankedCandidate | undefined;
  for (let index = 0; index < scores.length; index++) {
    // Once the list is full, only candidates with at least the score of its last entry can enter.
    if (last !== undefined && (scores[index] ?? 0) < last.score) continue;
    const ranked = rankedAt(scored, index);
    if (last !== undefined && compareRank(last, ranked) < 0) continue;
    insert(ranked, top, limit);
    if (top.length === limit) last = top[limit - 1];
  }
  return top;
}

/** Inserts in order; the last entry drops out when the list is full. */
function insert(ranked: RankedCandidate, top: RankedCandidate[], limit: number): void {
  let position = Math.min(top.length, limit - 1);
  for (; position > 0; position--) {
    const before = top[position - 1];
    if (before === undefined || !(compareRank(ranked, before) < 0)) break;
    top[position] = before;
  }
  top[position] = ranked;
}

function rankedAt(
  { candidates, positions, scores, requested }: ScoredCandidates,
  index: number,
): RankedCandidate {
  const candidate = candidates[positions[index] ?? -1];
  if (candidate === undefined) throw new RangeError(`no candidate at ${index}`);
  const { clusterId, reserved, advertisement } = candidate;
  const share = reservedShare(requested, { reserved, allocatable: advertisement.allocatable });
  return { clusterId, candidate, score: scores[index] ?? 0, reservedShare: share };
}
