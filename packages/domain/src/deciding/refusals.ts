import type { ClusterId } from "../reservation/ids.ts";
import type { Decision } from "./decision.ts";
import type { Refusal } from "./filters.ts";

export interface CandidateRefusal extends Refusal {
  readonly clusterId: ClusterId;
}

/** One reason for each recorded candidate that was rejected. */
export function refusalsOf(decision: Decision): CandidateRefusal[] {
  return decision.candidates.flatMap(({ clusterId, outcome }) =>
    outcome.kind === "refused" ? [{ clusterId, ...outcome.refusal }] : [],
  );
}

/** The same without amounts of other clusters (`disclosure: reasons`). */
export function withoutAmounts(refusals: readonly CandidateRefusal[]): CandidateRefusal[] {
  return refusals.map(({ clusterId, filter, summary }) => ({ clusterId, filter, message: summary, summary }));
}
