import type { DecisionDTO } from "@resource-broker/contract";
import type { DecisionUpdate } from "./update.ts";

type Candidate = DecisionDTO["candidates"][number];

/** What each scorer's lead means to a person. */
const ADVANTAGES: Readonly<Record<string, string>> = { resources: "more room left", cost: "cheaper" };
const SHOWN_DIGITS = 4;

/** What was decided and why, in two sentences. */
export function decisionUpdate(decision: DecisionDTO): DecisionUpdate {
  const { id, at, requesterID, winner, currency, candidates } = decision;
  const [headline = ""] = decision.explanation.split("\n");
  const price = candidates.find(({ clusterID }) => clusterID === winner)?.price;
  return {
    id,
    at,
    requester: requesterID,
    winner,
    headline,
    why: winner === undefined ? whyRefused(decision) : whyGranted(decision, winner),
    price:
      price === undefined ? undefined : `${Number(Number(price).toPrecision(SHOWN_DIGITS))} ${currency}/h`,
  };
}

function whyGranted({ candidates, fitted, considered }: DecisionDTO, winner: string): string {
  const best = candidates.find(({ clusterID }) => clusterID === winner);
  const second = candidates.find(({ clusterID, score }) => clusterID !== winner && score !== undefined);
  const others = passedOver(candidates);
  if (best === undefined || second === undefined)
    return `the only one of ${considered} that fits${others === "" ? "" : `: ${others}`}`;
  const names = advantages(best, second);
  const lead = names.length === 0 ? "ranks higher" : names.join(" and ");
  return `${lead} than ${second.clusterID} (${shown(best.score)} to ${shown(second.score)}); ${fitted} of ${considered} fit`;
}

/** What would turn the refusal is what a person wants to know first; then who lacked what. */
function whyRefused({ candidates, flip }: DecisionDTO): string {
  const others = passedOver(candidates);
  return [...(flip === undefined ? [] : [flip]), others].filter((part) => part !== "").join(" ");
}

function passedOver(candidates: readonly Candidate[]): string {
  return candidates
    .filter(({ reason }) => reason !== undefined && reason !== "self")
    .map(({ clusterID, message }) => `${clusterID} ${message ?? ""}`.trimEnd())
    .join(", ");
}

function advantages({ parts: best = {} }: Candidate, { parts: second = {} }: Candidate): string[] {
  return Object.keys(best)
    .filter((name) => (best[name] ?? 0) > (second[name] ?? 0))
    .map((name) => ADVANTAGES[name] ?? `better ${name}`);
}

function shown(score: number | undefined): string {
  return (score ?? 0).toFixed(2);
}
