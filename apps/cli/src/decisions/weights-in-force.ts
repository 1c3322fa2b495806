import type { DecisionDTO } from "@resource-broker/contract";

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
