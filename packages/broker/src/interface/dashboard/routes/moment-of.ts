import type { Engine } from "../../../engine/engine.ts";
import type { Moment } from "../views/advertised-account.ts";

export function momentOf(engine: Pick<Engine, "now" | "policy">): Moment {
  return { now: engine.now(), policy: engine.policy };
}
