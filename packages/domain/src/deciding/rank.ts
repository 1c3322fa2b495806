import type { ClusterId } from "../reservation/ids.ts";
import type { Candidate } from "./candidate.ts";
import { reservedShare, type Wanted } from "./scorers.ts";

/** What decides who goes first: the score, then the reserved share, then the cluster ID. */
export interface Ranked {
  readonly clusterId: ClusterId;
  readonly score: number;
  readonly reservedShare: number;
}

/** Negative when `a` goes first. */
export function compareRanked(a: Ranked, b: Ranked): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.reservedShare !== b.reservedShare) return a.reservedShare - b.reservedShare;
  return a.clusterId < b.clusterId ? -1 : 1;
}

/** Candidates with their scores side by side: `positions[i]` of the roster scored `scores[i]`. */
export interface Field {
  readonly candidates: readonly Candidate[];
  readonly positions: readonly number[];
  readonly scores: readonly number[];
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
    // Once the list is full, only who beats its last, or ties with it, is worth a closer look.
    if (last !== undefined && (scores[index] ?? 0) < last.score) continue;
    const placed = placedAt(field, index);
    if (last !== undefined && compareRanked(last, placed) < 0) continue;
    const place = first.findIndex((other) => compareRanked(placed, other) < 0);
    first.splice(place === -1 ? first.length : place, 0, placed);
    if (first.length > limit) first.pop();
    if (first.length === limit) last = first.at(-1);
  }
  return first;
}

function placedAt({ candidates, positions, scores, wanted }: Field, index: number): Placed {
  const candidate = candidates[positions[index] ?? -1];
  if (candidate === undefined) throw new RangeError(`no candidate at ${index}`);
  const { clusterId, reserved, advertisement } = candidate;
  const share = reservedShare(wanted, { reserved, allocatable: advertisement.allocatable });
  return { clusterId, candidate, score: scores[index] ?? 0, reservedShare: share };
}
