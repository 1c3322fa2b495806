import { DEFAULT_POLICY } from "@resource-broker/domain";
import { type FakeClock, type MemoryDisk, memoryStore } from "@resource-broker/testkit";
import { createEngine } from "../../../engine/create-engine.ts";
import type { Engine } from "../../../engine/engine.ts";
import { NO_OBSERVER } from "../../../engine/engine-observer.ts";

/** An engine on a disk and a clock of the test. */
export async function startedEngine(time: FakeClock, disk: MemoryDisk): Promise<Engine> {
  const engine = createEngine(
    { policy: DEFAULT_POLICY, maxWaiting: 10_000 },
    {
      store: memoryStore(disk),
      clock: time,
      observer: NO_OBSERVER,
      defer: setImmediate,
      onFatal: (failure) => {
        throw failure;
      },
    },
  );
  await engine.start();
  return engine;
}
