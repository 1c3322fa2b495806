import { Fault } from "@resource-broker/contract";
import type { Leadership, LeadershipState } from "./store/leadership.ts";

const RETRY_AFTER_MS = 1000;

/** Why a replica does not answer for the ledger right now; undefined: it may. */
export function notLeading({ state }: Pick<Leadership, "state">): Fault | undefined {
  const problem = leadershipProblem(state());
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
export function leadershipProblem(state: LeadershipState): string | undefined {
  switch (state.role) {
    case "leader":
      return undefined;
    case "standby": {
      const { leader, problem } = state;
      const leaderText = leader === "" ? "no replica has led yet" : `the last known leader is ${leader}`;
      return `standby: ${problem ?? leaderText}`;
    }
    case "unsure":
      return "the store cannot be reached; another replica may be the leader";
    case "deposed":
      return `deposed: ${state.leader === "" ? "another replica" : state.leader} leads`;
  }
}
