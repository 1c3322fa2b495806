import type { ReadinessCheck } from "@resource-broker/runtime";
import type { Engine } from "./engine/engine.ts";

/** The engine can take commands and write them down. */
export function engineCheck(engine: Pick<Engine, "health">): ReadinessCheck {
  return {
    name: "ledger",
    problem: () => {
      const { health } = engine;
      if (health.state === "ready") return undefined;
      return "reason" in health ? `${health.state}: ${health.reason}` : health.state;
    },
  };
}
