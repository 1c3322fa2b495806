import type { ClusterId } from "../reservation/ids.ts";
import type { Candidate } from "./candidate.ts";
import { type RequestSummary, reservedShare } from "./scorers.ts";

/** Sort key of candidates: score, then reserved share, then cluster ID. */
export interface RankKey {
  readonly clusterId: ClusterId;
  readonly score: number;
  readonly reservedShare: number;
}

/** Negative when `a` ranks before `b`. */
export function compareRank(a: RankKey, b: RankKey): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.reservedShare !== b.reservedShare) return a.reservedShare - b.reservedShare;
  return a.clusterId < b.clusterId ? -1 : 1;
}

/** Candidates and their scores: the candidate at `positions[i]` of the table has `scores[i]`. */
export interface ScoredCandidates {
  readonly candidates: readonly Candidate[];
  readonly positions: Int32Array;
  readonly scores: Float64Array;
  readonly requested: RequestSummary;
}

export interface RankedCandidate extends RankKey {
  readonly candidate: Candidate;
}

/** The first `limit` candidates, best first, without sorting the rest. */
export function topCandidates(scored: ScoredCandidates, limit: number): RankedCandidate[] {
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
