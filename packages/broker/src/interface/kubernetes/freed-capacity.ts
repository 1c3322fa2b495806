import type { Instant } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";
import { changesIn } from "../http/stream/changes.ts";
import { CapacityWatch } from "../shared/capacity-watch.ts";

/** Each time, every queued request is asked for again: the larger the fleet, the more that costs, and the more often there is news. */
const PAUSE_FOR_EACH_CLUSTER_MS = 10;

export interface FreedCapacity {
  /** When it was noticed that some cluster can lend more than before; undefined: never since this began. */
  readonly noticedAt: () => Instant | undefined;
  readonly stop: () => void;
}

export function freedCapacity(engine: Engine): FreedCapacity {
  const watch = new CapacityWatch(engine);
  let noticedAt: Instant | undefined;
  let looksAgainAt: Instant = 0;
  const stop = engine.onCommit((batch) => {
    for (const { provider } of changesIn(batch, engine.ledger)) watch.observe(provider);
  });
  return {
    noticedAt: () => {
      const now = engine.now();
      if (now >= looksAgainAt && watch.take().isFreed) {
        noticedAt = now;
        looksAgainAt = now + engine.ledger.accounts.size * PAUSE_FOR_EACH_CLUSTER_MS;
      }
      return noticedAt;
    },
    stop,
  };
}
