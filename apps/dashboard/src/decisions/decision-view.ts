import type { DecisionDTO } from "@resource-broker/contract";
import { inParts, percent, plainNumber } from "../format/amounts.ts";
import { rateText } from "../format/money.ts";
import { quantityText } from "../format/quantity.ts";

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
};

export function reasonTitle(reason: string): string {
  return REASONS[reason] ?? reason;
}

export interface ScorePart {
  readonly name: string;
  /** Of the whole score, from 0 to 1: weight × score / sum of weights. */
  readonly share: number;
  readonly text: string;
}

export interface CandidateView {
  readonly id: string;
  readonly rank: number;
  readonly isWinner: boolean;
  readonly score: string;
  readonly parts: readonly ScorePart[];
  readonly price: string | null;
  readonly room: string;
  readonly age: string;
  readonly description: string;
}

export interface RefusedView {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly missing: string;
  readonly also: string;
}

export interface DecisionView {
  readonly isGranted: boolean;
  readonly headline: string;
  readonly fitted: readonly CandidateView[];
  readonly refused: readonly RefusedView[];
  readonly counts: readonly { readonly reason: string; readonly clusters: number }[];
  readonly scorers: readonly { readonly name: string; readonly weight: string }[];
  readonly flip: string | null;
  /** Also those beyond the ones that were kept. */
  readonly passedOver: number;
  /** Candidates beyond those that were kept. */
  readonly left: number;
}

type Candidate = DecisionDTO["candidates"][number];

export function decisionView(decision: DecisionDTO): DecisionView {
  const { winner, candidates, considered, fitted, weights } = decision;
  const scored = candidates.filter(({ reason }) => reason === undefined);
  return {
    isGranted: winner !== undefined,
    headline: headlineOf(decision),
    fitted: scored.map((candidate, index) => candidateView(candidate, index + 1, decision)),
    refused: candidates.filter(({ reason }) => reason !== undefined).map(refusedView),
    counts: Object.entries(decision.counts)
      .toSorted(([, one], [, other]) => other - one)
      .map(([reason, clusters]) => ({ reason: reasonTitle(reason), clusters })),
    scorers: weighted(weights).map(([name, weight]) => ({
      name,
      weight: percent(weight / weightSum(weights)),
    })),
    flip: decision.flip ?? null,
    passedOver: considered - fitted,
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

function candidateView(candidate: Candidate, rank: number, decision: DecisionDTO): CandidateView {
  const parts = scoreParts(candidate, decision.weights);
  const score = candidate.score === undefined ? "–" : candidate.score.toFixed(3);
  return {
    id: candidate.clusterID,
    rank,
    isWinner: candidate.clusterID === decision.winner,
    score,
    parts,
    price: candidate.price === undefined ? null : rateText(Number(candidate.price), decision.currency),
    room: candidate.available === undefined ? "" : quantitiesText(candidate.available),
    age: candidate.advertisementAge ?? "",
    description: `${candidate.clusterID}: score ${score}, ${parts.map(({ text }) => text).join(", ")}`,
  };
}

/** Without any price the cost counts for nothing and its weight goes to the others: so the bar is scaled to the score. */
function scoreParts({ parts = {}, score }: Candidate, weights: DecisionDTO["weights"]): ScorePart[] {
  const raw = weighted(weights).flatMap(([name, weight]) => {
    const part = parts[name];
    return part === undefined ? [] : [{ name, part, share: (weight * part) / weightSum(weights) }];
  });
  const sum = raw.reduce((total, { share }) => total + share, 0);
  const scale = score === undefined || sum === 0 ? 1 : score / sum;
  return raw.map(({ name, part, share }) => ({
    name,
    share: Math.min(1, Math.max(0, share * scale)),
    text: `${name} ${part.toFixed(2)}`,
  }));
}

function refusedView(candidate: Candidate): RefusedView {
  return {
    id: candidate.clusterID,
    reason: reasonTitle(candidate.reason ?? ""),
    message: candidate.message ?? "",
    missing: candidate.missing === undefined ? "" : quantitiesText(candidate.missing),
    also: (candidate.alsoRefusedBy ?? []).map(reasonTitle).join(", "),
  };
}

type Quantities = NonNullable<Candidate["missing"]>;

/** Kubernetes quantities for people: "3.5 CPU · 8 GiB · 1 GPU". */
export function quantitiesText({ cpu, memory, gpu, storage, extended = {} }: Quantities): string {
  return inParts([
    cpu === undefined ? "" : quantityText("cpu", cpu),
    memory === undefined ? "" : quantityText("memory", memory),
    gpu === undefined || gpu === "0" ? "" : quantityText("gpu", gpu),
    storage === undefined || storage === "0" ? "" : `${storage} storage`,
    ...Object.entries(extended).map(([name, quantity]) => `${quantity} ${name}`),
  ]);
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
