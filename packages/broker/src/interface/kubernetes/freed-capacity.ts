import type { Instant } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";
import { changesIn } from "../http/stream/changes.ts";
import { CapacityWatch } from "../shared/capacity-watch.ts";

/** Minimum interval per cluster: each notice makes agents repeat all queued requests, which costs more in large fleets. */
const PAUSE_FOR_EACH_CLUSTER_MS = 10;

export interface FreedCapacity {
  /** When freed capacity was last detected; undefined: not since start. */
  readonly noticedAt: () => Instant | undefined;
  readonly stop: () => void;
}

export function freedCapacity(engine: Engine): FreedCapacity {
  const watch = new CapacityWatch(engine);
  let noticedAt: Instant | undefined;
  let nextCheckAt: Instant = 0;
  const stop = engine.onCommit((batch) => {
    for (const { provider } of changesIn(batch, engine.ledger)) watch.observe(provider);
  });
  return {
    noticedAt: () => {
      const now = engine.now();
      if (now >= nextCheckAt && watch.take().isFreed) {
        noticedAt = now;
        nextCheckAt = now + engine.ledger.accounts.size * PAUSE_FOR_EACH_CLUSTER_MS;
      }
      return noticedAt;
    },
    stop,
  };
}
