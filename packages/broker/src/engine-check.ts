import type { ReadinessCheck } from "@resource-broker/runtime";
import type { Engine } from "./engine/engine.ts";
import { standingProblem } from "./replica.ts";
import type { Leadership, Standing } from "./store/leadership.ts";

type Standings = Pick<Leadership, "standing">;

const LEADS: Standing = { role: "leader" };

/**
 * Whether this replica answers for the ledger. A check of its own, for `/readyz?exclude=leading`: one that stands by is
 * as well as it can be, which is all that a rollout or a disruption budget wants to know.
 */
export function leadingCheck(leadership?: Standings): ReadinessCheck {
  return {
    name: "leading",
    problem: () => (leadership === undefined ? undefined : standingProblem(leadership.standing())),
  };
}

/**
 * The engine can answer for the ledger. One that stands by has not begun: it needs to reach the store. A store that cannot
 * be written takes nobody out: reading goes on, and `writesCheck` shows it.
 */
export function engineCheck(engine: Pick<Engine, "health">, leadership?: Standings): ReadinessCheck {
  return {
    name: "ledger",
    problem: () => {
      const standing = leadership?.standing() ?? LEADS;
      if (standing.role === "standby") return standing.problem;
      // Another one may lead: whoever is sent here, by a label that is out of date, would be turned away.
      if (standing.role !== "leader") return standingProblem(standing);
      const { health } = engine;
      if (health.state === "ready" || health.state === "degraded") return undefined;
      return health.state === "failed" ? `failed: ${health.reason}` : health.state;
    },
  };
}

/** Whether the ledger can be written; only shown, because whoever reads must still be sent here. */
export function writesCheck(engine: Pick<Engine, "health">): ReadinessCheck {
  return {
    name: "ledger-writes",
    isAdvisory: true,
    problem: () => (engine.health.state === "degraded" ? `degraded: ${engine.health.reason}` : undefined),
  };
}
