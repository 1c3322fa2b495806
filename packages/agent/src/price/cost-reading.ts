import { type CostDTO, costSchema, describeProblem, validateExactly } from "@resource-broker/contract";

/** Prices as read: valid, deliberately absent, or invalid. */
export type CostReading =
  | { readonly ok: true; readonly cost: CostDTO | undefined }
  | { readonly ok: false; readonly problem: string };

/** `names`: what a field of the CostDTO is called where it was written. */
export function readCost(input: unknown, names: Readonly<Record<string, string>> = {}): CostReading {
  const result = validateExactly(costSchema, input);
  if (result.ok) return { ok: true, cost: result.value };
  const problem = result.problems
    .map(({ path, message }) => describeProblem({ path: names[path] ?? path, message }))
    .join("; ");
  return { ok: false, problem };
}
