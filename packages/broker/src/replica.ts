import { Fault } from "@resource-broker/contract";
import type { Leadership, Standing } from "./store/leadership.ts";

const RETRY_AFTER_MS = 1000;

/** Why a replica does not answer for the ledger right now; undefined: it may. */
export function notLeading({ standing }: Pick<Leadership, "standing">): Fault | undefined {
  const problem = standingProblem(standing());
  if (problem === undefined) return undefined;
  return new Fault(
    "not-leader",
    `this replica is not the leader (${problem}); retry, or use the next broker URL`,
    {
      details: { retryAfterMs: RETRY_AFTER_MS },
    },
  );
}

/** Why this replica does not lead, as text; undefined if it leads. */
export function standingProblem(standing: Standing): string | undefined {
  switch (standing.role) {
    case "leader":
      return undefined;
    case "standby": {
      const { leader, problem } = standing;
      const who = leader === "" ? "no replica has led yet" : `the last known leader is ${leader}`;
      return `standby: ${problem ?? who}`;
    }
    case "unsure":
      return "the store cannot be reached; another replica may be the leader";
    case "deposed":
      return `deposed: ${standing.leader === "" ? "another replica" : standing.leader} leads`;
  }
}
