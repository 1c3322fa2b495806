import type { ReadinessCheck } from "@resource-broker/runtime";
import type { Engine } from "./engine/engine.ts";
import { standingProblem } from "./replica.ts";
import type { Leadership } from "./store/leadership.ts";

/** The engine can take commands and write them down; of several replicas only the leader's can. */
export function engineCheck(
  engine: Pick<Engine, "health">,
  leadership?: Pick<Leadership, "standing">,
): ReadinessCheck {
  return {
    name: "ledger",
    problem: () => {
      const standby = leadership === undefined ? undefined : standingProblem(leadership.standing());
      if (standby !== undefined) return standby;
      const { health } = engine;
      if (health.state === "ready") return undefined;
      return "reason" in health ? `${health.state}: ${health.reason}` : health.state;
    },
  };
}
