import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { KubernetesStore } from "../kubernetes-store.ts";
import type { LedgerServer, ReplicaOptions, TestLedger } from "./test-ledger.ts";

/** A server for the tests of a file; ledgers and replicas end with the test that made them. */
export function useServer<S extends LedgerServer>(start: () => Promise<S>) {
  let server: S;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.dispose());

  const replica = (ledger: TestLedger, options?: ReplicaOptions): KubernetesStore => {
    const store = ledger.connect(options);
    onTestFinished(store.close);
    return store;
  };
  return {
    server: () => server,
    newLedger: async (): Promise<TestLedger> => {
      const ledger = await server.newLedger();
      onTestFinished(ledger.remove);
      return ledger;
    },
    replica,
    /** What the next process finds. */
    reopened: async (ledger: TestLedger, store: KubernetesStore) => {
      await store.close();
      return replica(ledger).open();
    },
  };
}
