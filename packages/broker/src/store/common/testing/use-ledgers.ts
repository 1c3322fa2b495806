import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { ReplicatedStore } from "../leader-elector.ts";

/** A ledger that replicas share. The options of `connect` are those of its kind of store. */
interface SharedLedger {
  readonly connect: (options?: never) => ReplicatedStore;
  readonly remove: () => Promise<void>;
}

/** Where the ledgers of a test file are. */
interface LedgerServer<L> {
  readonly newLedger: () => Promise<L>;
  readonly dispose: () => Promise<void>;
}

/** A server for the tests of a block; ledgers and replicas end with the test that made them. */
export function useLedgers<L extends SharedLedger, S extends LedgerServer<L>>(
  start: () => Promise<S & LedgerServer<L>>,
  timeoutMs?: number,
) {
  let server: S;
  beforeAll(async () => {
    server = await start();
  }, timeoutMs);
  afterAll(() => server?.dispose(), timeoutMs);

  const replica = (ledger: L, options?: Parameters<L["connect"]>[0]): ReplicatedStore => {
    const store = ledger.connect(options);
    onTestFinished(store.close);
    return store;
  };
  return {
    server: () => server,
    newLedger: async (): Promise<L> => {
      const ledger = await server.newLedger();
      onTestFinished(ledger.remove);
      return ledger;
    },
    replica,
    /** What the next process finds. */
    reopened: async (ledger: L, store: ReplicatedStore) => {
      await store.close();
      return replica(ledger).open();
    },
  };
}
