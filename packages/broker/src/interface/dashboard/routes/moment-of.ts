import type { Engine } from "../../../engine/engine.ts";
import type { Moment } from "../views/cluster-view.ts";

export function momentOf(engine: Pick<Engine, "now" | "policy">): Moment {
  return { now: engine.now(), policy: engine.policy };
}
