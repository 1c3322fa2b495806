import type { ClusterId } from "../reservation/ids.ts";
import type { ResourceVector } from "../resources/resource-vector.ts";
import type { Candidate } from "./candidate.ts";
import { reservedShare, type ScoreInputs } from "./scorers.ts";

/** What decides who goes first: the score, and for equal scores the rest. */
export interface Ranked extends Pick<ScoreInputs, "reserved" | "allocatable"> {
  readonly clusterId: ClusterId;
  readonly score: number;
}

/** Ties: lowest reserved share, then cluster ID. Negative when `a` goes first. */
export function compareRanked(a: Ranked, b: Ranked, request: ResourceVector): number {
  if (a.score !== b.score) return b.score - a.score;
  const shares = reservedShare(request, a) - reservedShare(request, b);
  if (shares !== 0) return shares;
  return a.clusterId < b.clusterId ? -1 : 1;
}

/** Candidates with their scores side by side: `positions[i]` of the roster scored `scores[i]`. */
export interface Field {
  readonly candidates: readonly Candidate[];
  readonly positions: readonly number[];
  readonly scores: readonly number[];
  readonly request: ResourceVector;
}

export interface Placed {
  readonly candidate: Candidate;
  readonly score: number;
}

/** The first `limit` candidates, best first, without sorting the rest. */
export function firstOf(field: Field, limit: number): Placed[] {
  const { scores } = field;
  const first: Placed[] = [];
  let threshold = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < scores.length; index++) {
    const score = scores[index] ?? 0;
    if (score < threshold) continue;
    insert(first, placedAt(field, index), field.request);
    if (first.length > limit) first.pop();
    // Once the list is full, only who beats its last (or ties with it) is worth a closer look.
    if (first.length === limit) threshold = first.at(-1)?.score ?? threshold;
  }
  return first;
}

function insert(first: Placed[], placed: Placed, request: ResourceVector): void {
  const place = first.findIndex((other) => isAhead(placed, other, request));
  first.splice(place === -1 ? first.length : place, 0, placed);
}

function isAhead(a: Placed, b: Placed, request: ResourceVector): boolean {
  // Equal scores are rare: only they are worth a closer look.
  if (a.score !== b.score) return a.score > b.score;
  return compareRanked(rankedOf(a), rankedOf(b), request) < 0;
}

function placedAt({ candidates, positions, scores }: Field, index: number): Placed {
  const candidate = candidates[positions[index] ?? -1];
  if (candidate === undefined) throw new RangeError(`no candidate at ${index}`);
  return { candidate, score: scores[index] ?? 0 };
}

function rankedOf({ candidate, score }: Placed): Ranked {
  const { clusterId, reserved, advertisement } = candidate;
  return { clusterId, reserved, allocatable: advertisement.allocatable, score };
}
