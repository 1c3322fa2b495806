import type { ClusterId } from "../reservation/ids.ts";
import { compareRanked } from "./rank.ts";
import type { Decision } from "./decision.ts";
import { reservedShare, scoreOf, wantedOf, weightingOf } from "./scorers.ts";

/** Recomputes the winner from the decision record with the scoring code of the live path. */
export function replayWinner(decision: Decision): ClusterId | undefined {
  const { market, request } = decision;
  const wanted = wantedOf(request.resources);
  const scale = { market, weighting: weightingOf(decision.weights, market) };
  const ranked = decision.candidates
    .filter(({ outcome }) => outcome.kind === "scored")
    .map(({ clusterId, inputs }) => ({
      clusterId,
      score: scoreOf(request.resources, inputs, scale),
      reservedShare: reservedShare(wanted, inputs),
    }));
  return ranked.sort(compareRanked)[0]?.clusterId;
}
