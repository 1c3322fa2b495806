import type { ClusterId } from "../reservation/ids.ts";
import type { Candidate } from "./candidate.ts";
import { reservedShare, type Wanted } from "./scorers.ts";

/** Sort key of candidates: score, then reserved share, then cluster ID. */
export interface Ranked {
  readonly clusterId: ClusterId;
  readonly score: number;
  readonly reservedShare: number;
}

/** Negative when `a` ranks before `b`. */
export function compareRanked(a: Ranked, b: Ranked): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.reservedShare !== b.reservedShare) return a.reservedShare - b.reservedShare;
  return a.clusterId < b.clusterId ? -1 : 1;
}

/** Candidates and their scores: the candidate at `positions[i]` of the table has `scores[i]`. */
export interface Field {
  readonly candidates: readonly Candidate[];
  readonly positions: Int32Array;
  readonly scores: Float64Array;
  readonly wanted: Wanted;
}

export interface Placed extends Ranked {
  readonly candidate: Candidate;
}

/** The first `limit` candidates, best first, without sorting the rest. */
export function firstOf(field: Field, limit: number): Placed[] {
  const { scores } = field;
  const first: Placed[] = [];
  let last: Placed | undefined;
  for (let index = 0; index < scores.length; index++) {
    // Once the list is full, only candidates with at least the score of its last entry can enter.
    if (last !== undefined && (scores[index] ?? 0) < last.score) continue;
    const placed = placedAt(field, index);
    if (last !== undefined && compareRanked(last, placed) < 0) continue;
    insert(placed, first, limit);
    if (first.length === limit) last = first[limit - 1];
  }
  return first;
}

/** Inserts in order; the last entry drops out when the list is full. */
function insert(placed: Placed, first: Placed[], limit: number): void {
  let place = Math.min(first.length, limit - 1);
  for (; place > 0; place--) {
    const before = first[place - 1];
    if (before === undefined || !(compareRanked(placed, before) < 0)) break;
    first[place] = before;
  }
  first[place] = placed;
}

function placedAt({ candidates, positions, scores, wanted }: Field, index: number): Placed {
  const candidate = candidates[positions[index] ?? -1];
  if (candidate === undefined) throw new RangeError(`no candidate at ${index}`);
  const { clusterId, reserved, advertisement } = candidate;
  const share = reservedShare(wanted, { reserved, allocatable: advertisement.allocatable });
  return { clusterId, candidate, score: scores[index] ?? 0, reservedShare: share };
}
