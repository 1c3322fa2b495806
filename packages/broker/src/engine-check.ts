import type { ReadinessCheck } from "@resource-broker/runtime";
import type { Engine } from "./engine/engine.ts";
import { leadershipProblem } from "./replica.ts";
import type { Leadership, LeadershipState } from "./store/leadership.ts";

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
