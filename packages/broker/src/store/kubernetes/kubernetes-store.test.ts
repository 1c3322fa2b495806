import { STORE_PROMISES } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LedgerServer, simulatedServer } from "./testing/test-ledger.ts";

describe("on a simulated API server", () => {
  let server: LedgerServer;
  beforeAll(async () => {
    server = await simulatedServer();
  });
  afterAll(() => server.dispose());

  describe("the kubernetes store passes the conformance suite of a store", () => {
    it.each(STORE_PROMISES)("$name", async ({ keep }) => {
      await expect(keep(() => server.newLedger())).resolves.toBeUndefined();
    });
  });
});
