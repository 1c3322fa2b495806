import type { ClusterId } from "../reservation/ids.ts";
import { compareRank } from "./rank.ts";
import type { Decision } from "./decision.ts";
import { computeScore, reservedShare, summarizeRequest, weightingOf } from "./scorers.ts";

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
