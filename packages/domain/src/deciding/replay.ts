import type { ClusterId } from "../reservation/ids.ts";
import { compareRanked } from "./rank.ts";
import type { Decision } from "./decision.ts";
import { scoreOf, weightingOf } from "./scorers.ts";

/** Recomputes the winner from the numbers in the record, with the code that decides live. */
export function replayWinner(decision: Decision): ClusterId | undefined {
  const { market, request } = decision;
  const scale = { market, weighting: weightingOf(decision.weights, market) };
  const ranked = decision.candidates
    .filter(({ outcome }) => outcome.kind === "scored")
    .map(({ clusterId, inputs }) => ({
      clusterId,
      ...inputs,
      score: scoreOf(request.resources, inputs, scale),
    }));
  return ranked.sort((a, b) => compareRanked(a, b, request.resources))[0]?.clusterId;
}
