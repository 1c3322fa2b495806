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

/** Candidates with their scores side by side; positions stand for candidates. */
export interface Field {
  readonly fitting: readonly Candidate[];
  readonly scores: readonly number[];
  readonly request: ResourceVector;
}

/** The positions of the first `limit` candidates, best first, without sorting the rest. */
export function firstOf(field: Field, limit: number): number[] {
  const first: number[] = [];
  for (let position = 0; position < field.fitting.length; position++) {
    const last = first.at(-1);
    if (first.length === limit && last !== undefined && isAhead(field, last, position)) continue;
    const place = first.findIndex((other) => isAhead(field, position, other));
    first.splice(place === -1 ? first.length : place, 0, position);
    if (first.length > limit) first.pop();
  }
  return first;
}

function isAhead(field: Field, a: number, b: number): boolean {
  const scoreA = field.scores[a] ?? 0;
  const scoreB = field.scores[b] ?? 0;
  // Equal scores are rare: only they are worth a closer look.
  if (scoreA !== scoreB) return scoreA > scoreB;
  return compareRanked(rankedAt(field, a), rankedAt(field, b), field.request) < 0;
}

function rankedAt({ fitting, scores }: Field, position: number): Ranked {
  const candidate = fitting[position];
  if (candidate === undefined) throw new RangeError(`no candidate at ${position}`);
  const { clusterId, reserved, advertisement } = candidate;
  return { clusterId, reserved, allocatable: advertisement.allocatable, score: scores[position] ?? 0 };
}
