import { describeResources } from "../quantity/format-amount.ts";
import type { CandidateRecord, Decision, RefusedOutcome, ScoredOutcome } from "./decision.ts";
import { describeNumber, list } from "./describe.ts";
import { flipOf } from "./flip.ts";
import { weightingOf } from "./scorers.ts";

/** The decision as text: outcome, one line per candidate, and the smallest change that would flip it. */
export function explain(decision: Decision): string {
  const width = Math.max(0, ...decision.candidates.map(({ clusterId }) => clusterId.length));
  const lines = decision.candidates.map((candidate) => `  ${candidateLine(candidate, decision, width)}`);
  const unlisted = unlistedLine(decision);
  const flip = flipOf(decision);
  return [headline(decision), ...lines, ...unlisted, ...(flip === undefined ? [] : [flip])].join("\n");
}

/** One line for a status message or a log. */
export function headline(decision: Decision): string {
  const what = describeResources(decision.request.resources);
  const { winner, requester, considered } = decision;
  if (winner !== undefined) return `${winner} lends ${what} to ${requester}.`;
  if (considered === 0) return `No cluster can lend ${what} to ${requester}: none has advertised yet.`;
  return `No cluster can lend ${what} to ${requester}; ${considered} considered.`;
}

function candidateLine(candidate: CandidateRecord, decision: Decision, width: number): string {
  const name = candidate.clusterId.padEnd(width);
  const { outcome } = candidate;
  if (outcome.kind === "refused") return `${name}  ${refusalText(outcome)}`;
  const price = candidate.inputs.price;
  const asks = price === undefined ? "no price" : `${describeNumber(price)} ${decision.currency}/h`;
  const chosen = candidate.clusterId === decision.winner ? "  <- chosen" : "";
  return `${name}  ${outcome.score.toFixed(3)} = ${partsText(outcome, decision)}  (${asks})${chosen}`;
}

function refusalText({ refusal, alsoRefusedBy }: RefusedOutcome): string {
  return alsoRefusedBy.length === 0
    ? refusal.message
    : `${refusal.message} (also: ${alsoRefusedBy.join(", ")})`;
}

function partsText(outcome: ScoredOutcome, decision: Decision): string {
  const { resources, cost, ratings, total } = weightingOf(decision.weights, decision.market);
  const weights = new Map([["resources", resources], ["cost", cost], ...ratings]);
  return Object.entries(outcome.parts)
    .map(([name, part]) => `${name} ${part.toFixed(2)} x ${describeNumber((weights.get(name) ?? 0) / total)}`)
    .join(" + ");
}

function unlistedLine(decision: Decision): string[] {
  const unlisted = decision.considered - decision.candidates.length;
  if (unlisted <= 0) return [];
  const counts = Object.entries(decision.refusedBy).map(([filter, count]) => `${count} by ${filter}`);
  const refused = counts.length === 0 ? "" : `; rejected in total: ${list(counts)}`;
  return [`  and ${unlisted} more${refused}`];
}
