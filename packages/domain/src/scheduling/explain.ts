import {
  amountOf,
  atLeastZero,
  describeAmount,
  describeAtMost,
  describeResources,
  type ResourceName,
  resourceNames,
  resourceTitle,
} from "@resource-broker/base";
import type { CandidateRecord, Decision, RefusedOutcome, ScoredOutcome } from "./decision.ts";
import { describeAge, describeNumber, list } from "./describe.ts";
import { type FilterName, WAS_EVICTED } from "./filters.ts";
import { computeScore, weightingOf } from "./scorers.ts";

/** The decision as text: outcome, one line per candidate, and the smallest change that would flip it. */
export function explain(decision: Decision): string {
  const width = Math.max(0, ...decision.candidates.map(({ clusterId }) => clusterId.length));
  const lines = decision.candidates.map((candidate) => `  ${candidateLine(candidate, decision, width)}`);
  const unlisted = unlistedLine(decision);
  const flip = flipOf(decision);
  const waited = [...queueLines(decision), ...noticeLines(decision)];
  return [headline(decision), ...lines, ...unlisted, ...waited, ...(flip === undefined ? [] : [flip])].join(
    "\n",
  );
}

/** How long it waited, and how many were passed over though they come first: IDs of others are nobody's business. */
function queueLines({ queue }: Decision): string[] {
  if (queue === undefined) return [];
  const { of, waitedMs, priority, tenant, share, next } = queue;
  const place = `priority ${priority}, tenant ${tenant} with a share of ${share}`;
  const passed = new Map<string, number>();
  for (const { passedOver } of next)
    if (passedOver !== undefined) passed.set(passedOver, (passed.get(passedOver) ?? 0) + 1);
  const counts = Array.from(passed, ([why, count]) => `${count} (${why})`);
  const before = counts.length === 0 ? "" : ` Passed over: ${list(counts)}.`;
  return [`Waited ${describeAge(waitedMs)}, one of ${of}: ${place}.${before}`];
}

/** Who gives way, and where else somebody could have. */
function noticeLines({ notice }: Decision): string[] {
  if (notice === undefined) return [];
  const { until, chosen, alternatives } = notice;
  const victims = chosen.victims.map(({ priority, tier }) => `${tier} of priority ${priority}`);
  const others = alternatives.map(({ provider }) => provider);
  const instead = others.length === 0 ? "" : ` Could have been at ${list(others)}.`;
  return [`Notice at ${chosen.provider} until ${new Date(until).toISOString()}: ${list(victims)}.${instead}`];
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
  const priceText = price === undefined ? "no price" : `${describeNumber(price)} ${decision.currency}/h`;
  const chosen = candidate.clusterId === decision.winner ? "  <- chosen" : "";
  return `${name}  ${outcome.score.toFixed(3)} = ${partsText(outcome, decision)}  (${priceText})${chosen}`;
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

/** The smallest change that would have changed the decision, as a sentence; undefined when no single change would. */
export function flipOf(decision: Decision): string | undefined {
  return decision.winner === undefined ? flipRefusal(decision) : flipGrant(decision);
}

/** What would make a candidate pass, by the only filter that rejected it. */
const REMEDIES: Readonly<Partial<Record<FilterName, string>>> = {
  target: " were allowed as target",
  excluded: " were not excluded",
  region: "'s region were allowed",
  labels: " had the labels asked for",
  cordoned: " were uncordoned",
  "lending-policy": "'s lending policy allowed it",
  "refused-recently": " had not refused just now",
  stale: " advertised again",
  "reservation-limit": " had one reservation less",
  "kept-for-others": " kept nothing for requests that wait",
  "node-shape": " had a node that large",
  unpriced: " had a price",
};

function flipRefusal(decision: Decision): string | undefined {
  const blockedOnce = decision.candidates.filter(
    ({ outcome }) => outcome.kind === "refused" && outcome.alsoRefusedBy.length === 0,
  );
  return smallerRequest(decision, blockedOnce) ?? otherRemedy(blockedOnce);
}

/** A smaller request, when capacity is the only problem: for the candidate that needs the smallest reduction. */
function smallerRequest(decision: Decision, candidates: readonly CandidateRecord[]): string | undefined {
  const nearest = candidates
    .filter(({ outcome }) => outcome.kind === "refused" && outcome.refusal.filter === "capacity")
    .map((candidate) => ({ candidate, reductions: reductionsFor(decision, candidate) }))
    .sort(
      (a, b) =>
        sizeOf(a.reductions) - sizeOf(b.reductions) ||
        (a.candidate.clusterId < b.candidate.clusterId ? -1 : 1),
    )[0];
  if (nearest === undefined) return undefined;
  const { candidate, reductions } = nearest;
  // A request for nothing is not useful advice.
  if (
    reductions.length === resourceNames(decision.request.resources).length &&
    reductions.every(({ left }) => left === 0)
  ) {
    return undefined;
  }
  return `Would fit ${candidate.clusterId} ${list(reductions.map(reductionText))}.`;
}

interface Reduction {
  readonly name: ResourceName;
  readonly wanted: number;
  readonly left: number;
}

function reductionsFor(decision: Decision, { inputs }: CandidateRecord): Reduction[] {
  const wanted = decision.request.resources;
  const available = atLeastZero(inputs.available);
  return resourceNames(wanted)
    .map((name) => ({ name, wanted: amountOf(wanted, name), left: amountOf(available, name) }))
    .filter((reduction) => reduction.left < reduction.wanted);
}

function sizeOf(reductions: readonly Reduction[]): number {
  return reductions.reduce((total, { wanted, left }) => total + (wanted - left) / wanted, 0);
}

function reductionText({ name, wanted, left }: Reduction): string {
  if (left === 0) return `without ${resourceTitle(name)}`;
  const [before] = describeAmount(name, wanted).split(" ");
  const [after] = describeAtMost(name, left).split(" ");
  // The rounded amounts are equal: print the exact ones.
  if (before === after) return `with ${left} instead of ${wanted} of ${resourceTitle(name)}`;
  return `with ${after} ${resourceTitle(name)} instead of ${before}`;
}

function otherRemedy(candidates: readonly CandidateRecord[]): string | undefined {
  for (const { clusterId, outcome } of candidates) {
    if (outcome.kind !== "refused") continue;
    const { filter, message } = outcome.refusal;
    const remedy = message === WAS_EVICTED ? " were invited and joined again" : REMEDIES[filter];
    if (remedy !== undefined) return `Would fit if ${clusterId}${remedy}.`;
  }
  return undefined;
}

/** The price at which the second candidate would have won, when a price can change the result; otherwise the score difference. */
function flipGrant(decision: Decision): string | undefined {
  const [winner, second] = decision.candidates.filter(({ outcome }) => outcome.kind === "scored");
  if (winner?.outcome.kind !== "scored" || second?.outcome.kind !== "scored") return undefined;
  const price = winningPrice(decision, winner, second);
  if (price !== undefined)
    return `${second.clusterId} would win below ${roundedDown(price)} ${decision.currency}/h.`;
  const difference = winner.outcome.score - second.outcome.score;
  return difference === 0
    ? `${second.clusterId} has the same score; ties go to the lower reserved share, then to the first cluster ID.`
    : `${second.clusterId} is second, ${describeNumber(difference)} lower.`;
}

/** Four significant digits, rounded down, so that the statement is true below the printed price. */
function roundedDown(value: number): string {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
  return describeNumber(Math.floor(value / unit) * unit);
}

const SEARCH_STEPS = 40;

/** Binary search between zero and the current price: a lower price gives a higher score. */
function winningPrice(
  decision: Decision,
  winner: CandidateRecord,
  second: CandidateRecord,
): number | undefined {
  const currentPrice = second.inputs.price;
  // A winner without a price is scored by the median, which depends on the second candidate's price.
  if (currentPrice === undefined || currentPrice === 0 || winner.inputs.price === undefined) return undefined;
  let losing = currentPrice;
  let winning = currentPrice / 2 ** SEARCH_STEPS;
  if (!winsAt(winning, { decision, winner, second })) return undefined;
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (winning + losing) / 2;
    if (winsAt(middle, { decision, winner, second })) winning = middle;
    else losing = middle;
  }
  return winning;
}

function winsAt(
  price: number,
  candidates: {
    readonly decision: Decision;
    readonly winner: CandidateRecord;
    readonly second: CandidateRecord;
  },
): boolean {
  const { decision, winner, second } = candidates;
  const lowestPrice = Math.min(price, decision.market.lowestPrice ?? price);
  const stats = { ...decision.market, lowestPrice };
  const scale = { stats, weighting: weightingOf(decision.weights, stats) };
  const { resources } = decision.request;
  return (
    computeScore(resources, { ...second.inputs, price }, scale) >
    computeScore(resources, winner.inputs, scale)
  );
}
