import { type PostgresServer, startPostgres } from "@resource-broker/testkit";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { PostgresStore } from "../postgres-store.ts";
import { type ReplicaOptions, type TestLedger, testLedger } from "./stores.ts";

/** A real server for all tests of a block, ledgers on it, and replicas that are closed with their test. */
export function ledgers() {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());
  return {
    server: () => server,
    newLedger: (): TestLedger => {
      const ledger = testLedger(server);
      onTestFinished(ledger.remove);
      return ledger;
    },
    replica: (ledger: TestLedger, options?: ReplicaOptions): PostgresStore => {
      const store = ledger.connect(options);
      onTestFinished(store.close);
      return store;
    },
  };
}
