import type { DecisionId } from "../reservation/ids.ts";
import type { CandidateTableView } from "./candidate-table.ts";
import type { Decision } from "./decision.ts";
import { filterCandidates, scratchBuffers } from "./filter-candidates.ts";
import type { SchedulingContext } from "./scheduling-context.ts";
import { preScore } from "./pre-score.ts";
import { recordDecision } from "./record-decision.ts";
import { candidateStats, computeScores, UNRATED, weightingOf } from "./scorers.ts";

/**
 * filter → score → select. The winner does not depend on the order of the candidates. The result is the decision record;
 * `explain` turns it into text.
 */
export function chooseProvider(
  table: CandidateTableView,
  asked: SchedulingContext,
  id: DecisionId,
): Decision {
  const preScored = preScore(asked);
  // Who may take what is kept for others takes it only where nothing else fits: they would start later for no reason.
  const sparing = { ...asked, isBehind: () => true };
  const spared = filterCandidates(table, sparing, preScored);
  const isSpared = spared.fitting.length > 0 || spared.refusedBy["kept-for-others"] === undefined;
  const context = isSpared ? sparing : asked;
  const filtered = isSpared ? spared : filterCandidates(table, asked, preScored);
  const { fitting, headrooms, prices } = filtered;
  const ratingsOf = (name: string) =>
    Array.from(fitting, (position) => {
      const candidate = table.candidates[position];
      return candidate === undefined ? UNRATED : preScored.ratingOf(name, candidate);
    });
  const ratings = new Map(preScored.ratingScorers.map(([name]) => [name, ratingsOf(name)]));
  const stats = candidateStats(prices, ratings);
  const scale = { stats, weighting: weightingOf(context.policy.weights, stats) };
  const { scores } = scratchBuffers(fitting.length);
  computeScores({ headrooms, prices, ratings }, scale, scores);
  return recordDecision(id, {
    ...filtered,
    context,
    preScored,
    table,
    scale,
    scores: scores.subarray(0, fitting.length),
  });
}
