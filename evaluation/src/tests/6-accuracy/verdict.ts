import type { Answer } from "../subject/calls.ts";
import type { OracleResult } from "./oracle.ts";

/** What the broker did, beside what the rules say. */
export interface Check {
  /** `tie`: scores that are equal but for the last digits; either choice is right. */
  readonly verdict: "right" | "tie" | "wrong";
  readonly expected: string;
  readonly got: string;
  /** Of a wrong one, in words. */
  readonly problem?: string;
}

const REFUSED = "refused";

export function checkOf(expected: OracleResult, answer: Answer): Check {
  const { status, provider } = answer;
  if (status === 409) return checkRefusal(expected, answer);
  if (status === 201 && provider !== undefined) return checkGrant(expected, provider);
  return wrong(expected.winner ?? REFUSED, `status ${status}`, `answered with ${status}`);
}

function checkRefusal({ winner, refusals }: OracleResult, { reasons = [] }: Answer): Check {
  if (winner !== undefined) return wrong(winner, REFUSED, `refused, but ${winner} can lend`);
  const problem = wrongReason(refusals, reasons);
  return problem === undefined
    ? { verdict: "right", expected: REFUSED, got: REFUSED }
    : wrong(REFUSED, REFUSED, problem);
}

function checkGrant({ winner, level, refusals }: OracleResult, provider: string): Check {
  const expected = winner ?? REFUSED;
  if (provider === winner) return { verdict: "right", expected, got: provider };
  if (level.includes(provider)) return { verdict: "tie", expected, got: provider };
  const why = refusals.get(provider)?.join(", ") ?? "another one scores more";
  return wrong(expected, provider, `${provider} lends, which is wrong: ${why}`);
}

function wrong(expected: string, got: string, problem: string): Check {
  return { verdict: "wrong", expected, got, problem };
}

/** Every cluster must be named, and with a reason that holds; which one, where there are several, is left to the broker. */
function wrongReason(
  refusals: OracleResult["refusals"],
  reasons: NonNullable<Answer["reasons"]>,
): string | undefined {
  const given = new Map(reasons.map(({ clusterID, reason }) => [clusterID, reason]));
  for (const [id, right] of refusals) {
    const reason = given.get(id);
    if (reason === undefined) return `refused rightly, but without a word on ${id}`;
    if (!right.includes(reason))
      return `refused rightly, but ${id} is said to fail by ${reason}, not ${right.join(" or ")}`;
  }
  return undefined;
}
