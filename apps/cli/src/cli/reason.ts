import { describeProblems, type Schema, validateExactly } from "@resource-broker/contract";
import { CommandError } from "./exit-code.ts";

/** Refuses a --reason that the broker would: `schema` is that of the call. */
export function checkReason(reason: string | undefined, schema: Schema<{ readonly reason?: string }>): void {
  if (reason === undefined) return;
  const validated = validateExactly(schema, { reason });
  if (validated.ok) return;
  throw new CommandError(
    "usage",
    describeProblems(validated.problems.map((problem) => ({ ...problem, path: "--reason" }))),
  );
}
