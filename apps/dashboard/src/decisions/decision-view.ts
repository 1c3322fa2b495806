import type { DecisionDTO } from "@resource-broker/contract";
import { percent, plainNumber, quantitiesText } from "../format/amounts.ts";
import { rateText } from "../format/money.ts";

/** The filters of the broker, as people would say it. */
const REASONS: Readonly<Record<string, string>> = {
  self: "is the requester",
  target: "not the wanted cluster",
  excluded: "excluded by the request",
  region: "in another region",
  labels: "without the wanted labels",
  cordoned: "cordoned",
  "lending-policy": "may not lend to this requester",
  "refused-recently": "refused it recently",
  stale: "no recent advertisement",
  "reservation-limit": "at the reservation limit",
  capacity: "not enough capacity",
  "node-shape": "no single node is big enough",
  "kept-for-others": "capacity kept for requests that come first",
  unpriced: "no price, and the tenant has a budget",
  budget: "over the tenant's budget",
};

export function reasonTitle(reason: string): string {
  return REASONS[reason] ?? reason;
}

type Candidate = DecisionDTO["candidates"][number];

export type DecisionView = ReturnType<typeof decisionView>;
export type CandidateView = ReturnType<typeof candidateView>;
export type RefusedView = ReturnType<typeof refusedView>;

export function decisionView(decision: DecisionDTO) {
  const { winner, candidates, considered, fitted, weights } = decision;
  const scored = candidates.filter(({ reason }) => reason === undefined);
  return {
    isGranted: winner !== undefined,
    headline: headlineOf(decision),
    fitted: scored.map((candidate, index) => candidateView(candidate, index + 1, decision)),
    refused: candidates.filter(({ reason }) => reason !== undefined).map(refusedView),
    counts: Object.entries(decision.counts)
      .toSorted(([, one], [, other]) => other - one)
      .map(([reason, clusters]) => `${plainNumber(clusters)} ${reasonTitle(reason)}`),
    scorers: weighted(weights).map(([name, weight]) => ({
      name,
      weight: percent(weight / weightSum(weights)),
    })),
    flip: decision.flip ?? null,
    /** Also those beyond the ones that were kept. */
    passedOver: considered - fitted,
    /** Candidates beyond those that were kept. */
    left: Math.max(0, considered - candidates.length, fitted - scored.length),
  };
}

function headlineOf({ winner, considered, fitted, requesterID }: DecisionDTO): string {
  const of = `${plainNumber(fitted)} of ${plainNumber(considered)} clusters fitted`;
  return winner === undefined ? `No provider for ${requesterID}: ${of}` : `${winner} wins: ${of}`;
}

function weighted(weights: DecisionDTO["weights"]): (readonly [name: string, weight: number])[] {
  return Object.entries(weights).filter(([, weight]) => weight > 0);
}

function weightSum(weights: DecisionDTO["weights"]): number {
  return weighted(weights).reduce((sum, [, weight]) => sum + weight, 0) || 1;
}

function candidateView(candidate: Candidate, rank: number, decision: DecisionDTO) {
  const { clusterID: id, price, available } = candidate;
  const parts = scoreParts(candidate, decision.weights);
  const score = candidate.score?.toFixed(3) ?? "–";
  const partsText = parts.map(({ text }) => text);
  return {
    id,
    rank,
    isWinner: id === decision.winner,
    score,
    parts,
    partsText: partsText.join(" · "),
    price: price === undefined ? null : rateText(Number(price), decision.currency),
    room: available === undefined ? "" : quantitiesText(available),
    description: `${id}: score ${score}, ${partsText.join(", ")}`,
  };
}

/** Without any price the cost counts for nothing and its weight goes to the others: so the bar is scaled to the score. */
function scoreParts({ parts = {}, score }: Candidate, weights: DecisionDTO["weights"]) {
  const raw = weighted(weights).flatMap(([name, weight]) => {
    const part = parts[name];
    return part === undefined ? [] : [{ text: `${name} ${part.toFixed(2)}`, share: weight * part }];
  });
  const sum = raw.reduce((total, { share }) => total + share, 0);
  const scale = score === undefined || sum === 0 ? 1 / weightSum(weights) : score / sum;
  return raw.map(({ text, share }) => ({ text, share: Math.min(1, Math.max(0, share * scale)) }));
}

function refusedView({ clusterID, reason = "", message = "", missing, alsoRefusedBy = [] }: Candidate) {
  return {
    id: clusterID,
    reason: reasonTitle(reason),
    message,
    missing: missing === undefined ? "" : quantitiesText(missing),
    also: alsoRefusedBy.map(reasonTitle).join(", "),
  };
}

/** The options of a request besides the amounts; default values are left out. */
export function requestOptionsText({ request }: Pick<DecisionDTO, "request">): readonly string[] {
  const { duration, targetClusterID, perNode, tier, priority = 0 } = request;
  return [
    duration === undefined ? "until released" : `for ${duration}`,
    targetClusterID === undefined ? "" : `only ${targetClusterID}`,
    ...constraintsText(request.constraints ?? {}),
    perNode === undefined ? "" : `one node with ${quantitiesText(perNode)}`,
    tier === undefined || tier === "on-demand" ? "" : tier,
    priority === 0 ? "" : `priority ${priority}`,
  ].filter((text) => text !== "");
}

type Constraints = NonNullable<DecisionDTO["request"]["constraints"]>;

function constraintsText({ regions = [], labels = {}, excludeClusters = [] }: Constraints): string[] {
  return [
    regions.length === 0 ? "" : `in ${regions.join(" or ")}`,
    ...Object.entries(labels).map(([name, value]) => `${name}=${value}`),
    excludeClusters.length === 0 ? "" : `not ${excludeClusters.join(", ")}`,
  ];
}
