import { Fault } from "@resource-broker/contract";
import type { Leadership, Standing } from "./store/leadership.ts";

const RETRY_AFTER_MS = 1000;

/** Why a replica does not answer for the ledger right now; undefined: it may. */
export function notLeading({ standing }: Pick<Leadership, "standing">): Fault | undefined {
  const problem = standingProblem(standing());
  if (problem === undefined) return undefined;
  return new Fault(
    "not-leader",
    `this replica does not lead (${problem}); ask again, or ask the next broker URL`,
    {
      details: { retryAfterMs: RETRY_AFTER_MS },
    },
  );
}

/** What keeps a replica from serving, in words; undefined: it leads. */
export function standingProblem(standing: Standing): string | undefined {
  switch (standing.role) {
    case "leader":
      return undefined;
    case "standby": {
      const { leader, problem } = standing;
      const who = leader === "" ? "nobody has led yet" : `the last known leader is ${leader}`;
      return `standby: ${problem ?? who}`;
    }
    case "unsure":
      return "the store cannot be reached, and another replica may lead by now";
    case "deposed":
      return `deposed: ${standing.leader === "" ? "another replica" : standing.leader} leads`;
  }
}
