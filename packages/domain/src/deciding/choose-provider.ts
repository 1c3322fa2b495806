import type { DecisionId } from "../reservation/ids.ts";
import { appraiserFor } from "./appraise.ts";
import type { Decision } from "./decision.ts";
import type { Question } from "./filters.ts";
import { recordDecision } from "./record-decision.ts";
import type { RosterView } from "./roster.ts";
import { marketOf, scoresOf, UNRATED, weightingOf } from "./scorers.ts";
import { sift } from "./sift.ts";
import { slateFor } from "./slate.ts";

/**
 * filter → score → select. The winner does not depend on the order of the candidates. The result is the decision record;
 * `explain` turns it into text.
 */
export function chooseProvider(roster: RosterView, question: Question, id: DecisionId): Decision {
  const appraiser = appraiserFor(question);
  const sieve = sift(roster, question, appraiser);
  const { fitting, headrooms, prices } = sieve;
  const marksOf = (name: string) =>
    Array.from(fitting, (position) => {
      const candidate = roster.candidates[position];
      return candidate === undefined ? UNRATED : appraiser.markOf(name, candidate);
    });
  const marks = new Map(appraiser.raters.map(([name]) => [name, marksOf(name)]));
  const market = marketOf(prices, marks);
  const scale = { market, weighting: weightingOf(question.policy.weights, market) };
  const { scores } = slateFor(fitting.length);
  scoresOf({ headrooms, prices, marks }, scale, scores);
  return recordDecision(id, {
    ...sieve,
    question,
    appraiser,
    roster,
    scale,
    scores: scores.subarray(0, fitting.length),
  });
}
