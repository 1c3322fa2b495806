import type { Instant } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";
import { changesIn } from "../http/stream/changes.ts";
import { CapacityWatch } from "../shared/capacity-watch.ts";

export interface FreedCapacity {
  /** When it was noticed that some cluster can lend more than before; undefined: never since this began. */
  readonly noticedAt: () => Instant | undefined;
  readonly stop: () => void;
}

export function freedCapacity(engine: Engine): FreedCapacity {
  const watch = new CapacityWatch(engine);
  let noticedAt: Instant | undefined;
  const stop = engine.onCommit((batch) => {
    for (const { provider } of changesIn(batch, engine.ledger)) watch.observe(provider);
  });
  return {
    noticedAt: () => {
      if (watch.take().isFreed) noticedAt = engine.now();
      return noticedAt;
    },
    stop,
  };
}
