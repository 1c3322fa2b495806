import { Fault } from "@resource-broker/base";
import type { ReadinessCheck } from "@resource-broker/runtime";
import type { Engine } from "./engine/engine.ts";
import type { Leadership, LeadershipState } from "./store/common/leader-elector.ts";

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
function leadershipProblem(state: LeadershipState): string | undefined {
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

type LeadershipReader = Pick<Leadership, "state">;

const LEADING: LeadershipState = { role: "leader" };

/**
 * Reports whether this replica is the leader. It is a separate check so that rollouts and disruption budgets can ask
 * `/readyz?exclude=leading`: a healthy standby replica passes all other checks.
 */
export function leadingCheck(leadership?: LeadershipReader): ReadinessCheck {
  return {
    name: "leading",
    problem: () => (leadership === undefined ? undefined : leadershipProblem(leadership.state())),
  };
}

/**
 * Reports whether the engine can read the ledger. A standby replica only needs to reach the store. If the store cannot
 * be written, the replica stays ready for reads; `writesCheck` reports the write problem.
 */
export function engineCheck(engine: Pick<Engine, "health">, leadership?: LeadershipReader): ReadinessCheck {
  return {
    name: "ledger",
    problem: () => {
      const state = leadership?.state() ?? LEADING;
      if (state.role === "standby") return state.problem;
      // Another replica may lead: calls routed here by an outdated label would be refused.
      if (state.role !== "leader") return leadershipProblem(state);
      const { health } = engine;
      if (health.state === "ready" || health.state === "degraded") return undefined;
      return health.state === "failed" ? `failed: ${health.reason}` : health.state;
    },
  };
}

/** Reports whether the ledger can be written. Advisory only: reads must still be routed to this replica. */
export function writesCheck(engine: Pick<Engine, "health">): ReadinessCheck {
  return {
    name: "ledger-writes",
    isAdvisory: true,
    problem: () => (engine.health.state === "degraded" ? `degraded: ${engine.health.reason}` : undefined),
  };
}
