import { parseDuration } from "@resource-broker/base";
import type { DecisionDTO, SomeQuantitiesDTO } from "@resource-broker/contract";
import { type Column, type Styler, table } from "../output/print.ts";
import { age, described, perHour } from "../output/text.ts";

type Candidate = DecisionDTO["candidates"][number];

export interface DecisionTextOptions {
  readonly styled: Styler;
  /** True: also what each candidate had to lend. */
  readonly isWide: boolean;
}

/** A decision as a person reads it: the outcome, who fitted and how well, who did not and why, what would flip it. */
export function decisionText(decision: DecisionDTO, { styled, isWide }: DecisionTextOptions): string {
  const { candidates, flip, explanation } = decision;
  const [headline = ""] = explanation.split("\n");
  const fitted = candidates.filter(({ reason }) => reason === undefined);
  const refused = candidates.filter(({ reason }) => reason !== undefined);
  const parts = [
    `${headline}\n`,
    table(fittedColumns(decision, { styled, isWide }), fitted),
    scoreLine(decision),
    table(refusedColumns({ styled, isWide }), refused),
    unlistedLine(decision),
    flip === undefined ? "" : `Flip: ${flip}\n`,
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function fittedColumns(decision: DecisionDTO, { styled, isWide }: DecisionTextOptions): Column<Candidate>[] {
  const { winner, candidates } = decision;
  const hasScores = candidates.some(({ score }) => score !== undefined);
  return [
    { title: "CLUSTER", value: ({ clusterID }) => clusterID },
    ...(hasScores ? scoreColumns(decision) : []),
    ...(isWide ? WIDE_COLUMNS : []),
    {
      title: "VERDICT",
      value: ({ clusterID }) => (clusterID === winner ? styled("Chosen", "good") : styled("Fitted", "quiet")),
    },
  ];
}

function scoreColumns(decision: DecisionDTO): Column<Candidate>[] {
  return [
    { title: "SCORE", value: ({ score }) => score?.toFixed(3) ?? "-" },
    ...weightsInForce(decision).map(({ name }) => ({
      title: name.toUpperCase(),
      value: ({ parts }: Candidate) => parts?.[name]?.toFixed(3) ?? "-",
    })),
    { title: "PRICE", value: ({ price }) => perHour(price, decision.currency) },
  ];
}

/** `score = 0.7 x resources + 0.3 x cost` */
function scoreLine(decision: DecisionDTO): string {
  const terms = weightsInForce(decision).map(({ name, share }) => `${Number(share.toFixed(3))} x ${name}`);
  return terms.length === 0 ? "" : `score = ${terms.join(" + ")} (policy ${decision.policyVersion})\n`;
}

function refusedColumns({ styled, isWide }: DecisionTextOptions): Column<Candidate>[] {
  return [
    { title: "CLUSTER", value: ({ clusterID }) => clusterID },
    { title: "PASSED OVER FOR", value: ({ reason = "" }) => styled(reason, "bad") },
    { title: "MISSING", value: ({ missing }) => (missing === undefined ? "-" : described(missing)) },
    {
      title: "WHY",
      value: ({ message = "", alsoRefusedBy = [] }) => [message, ...also(alsoRefusedBy)].join(" "),
    },
    ...(isWide ? WIDE_COLUMNS : []),
  ];
}

const WIDE_COLUMNS: readonly Column<Candidate>[] = [
  { title: "AVAILABLE", value: ({ available }) => amounts(available) },
  { title: "ALLOCATABLE", value: ({ allocatable }) => amounts(allocatable) },
  { title: "FRESH", value: ({ advertisementAge }) => ageOf(advertisementAge) },
];

function ageOf(duration: string | undefined): string {
  const parsed = parseDuration(duration ?? "");
  return parsed.ok ? age(parsed.ms) : "-";
}

function amounts(quantities: SomeQuantitiesDTO | undefined): string {
  return quantities === undefined ? "-" : described(quantities);
}

function also(filters: readonly string[]): string[] {
  return filters.length === 0 ? [] : [`(also: ${filters.join(", ")})`];
}

/** Large decisions are recorded in part: what is left out is counted. */
function unlistedLine({ considered, candidates, counts }: DecisionDTO): string {
  const unlisted = considered - candidates.length;
  if (unlisted <= 0) return "";
  const each = Object.entries(counts).map(([filter, count]) => `${count} for ${filter}`);
  const passedOver = each.length === 0 ? "" : `; rejected in total: ${each.join(", ")}`;
  return `and ${unlisted} more${passedOver}\n`;
}

/** A scorer and the share of the score that it makes up. */
export interface WeighedPart {
  readonly name: string;
  readonly share: number;
}

type Weighed = Pick<DecisionDTO, "weights" | "candidates">;

/**
 * The effective weights: those of the policy, except that a scorer without any value has weight 0,
 * and that the weight of cost goes to resources when nobody has a price.
 */
export function weightsInForce({ weights, candidates }: Weighed): readonly WeighedPart[] {
  const parts = candidates.find(({ parts }) => parts !== undefined)?.parts ?? {};
  const names = Object.keys(parts);
  const weightOf = (name: string): number =>
    (weights[name] ?? 0) + (name === "resources" && !names.includes("cost") ? (weights["cost"] ?? 0) : 0);
  const total = names.reduce((sum, name) => sum + weightOf(name), 0);
  // With no weight left, headroom alone decides.
  return names.map((name) => ({ name, share: total > 0 ? weightOf(name) / total : 1 / names.length }));
}
