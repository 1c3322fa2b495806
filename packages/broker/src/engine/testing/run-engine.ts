import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { fakeClock, memoryDisk, memoryStore } from "@resource-broker/testkit";
import type { Store, StoreFailure } from "../../store/store.ts";
import { createEngine, type EngineDeps } from "../create-engine.ts";
import { NO_OBSERVER } from "../engine-observer.ts";

interface EngineSetup extends Partial<Pick<EngineDeps, "notLeading" | "observer">> {
  readonly disk?: ReturnType<typeof memoryDisk>;
  readonly clock?: ReturnType<typeof fakeClock>;
  readonly policy?: Partial<Policy>;
  readonly maxWaiting?: number;
  /** What the engine has instead of some calls of the store. */
  readonly through?: (store: Store) => Partial<Store>;
}

/** A started engine on a store in memory, with a clock that the test moves. */
export async function runEngine(setup: EngineSetup = {}) {
  const { disk = memoryDisk(), clock = fakeClock(), policy, maxWaiting = 10_000, through, ...deps } = setup;
  const store = memoryStore(disk);
  const fatal: StoreFailure[] = [];
  let decisions = 0;
  const engine = createEngine(
    { policy: { ...DEFAULT_POLICY, ...policy }, maxWaiting },
    {
      observer: NO_OBSERVER,
      ...deps,
      store: { ...store, ...through?.(store) },
      clock,
      defer: setImmediate,
      newDecisionId: () => `dec-queue-${++decisions}`,
      onFatal: (failure) => void fatal.push(failure),
    },
  );
  await engine.start();
  return { engine, store, disk, clock, fatal };
}
