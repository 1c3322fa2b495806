import { rm } from "node:fs/promises";
import { clientOf } from "@resource-broker/client/testing";
import {
  startBroker,
  startFaultyProxy,
  TRANSPORT_PROMISES,
  type TransportUnderTest,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";

const certificates = await testCertificates();

async function makeTransport(): Promise<TransportUnderTest> {
  const broker = await startBroker({ certificates });
  const proxy = await startFaultyProxy(broker);
  const brokerUrls = [`https://127.0.0.1:${proxy.port}`];
  return {
    connect: async (clusterId) => {
      const credentials = certificates.cluster(clusterId);
      return (await clientOf({ brokerUrls, credentials })).client;
    },
    cut: proxy.cut,
    loseLedger: async () => {
      await broker.kill("SIGKILL");
      await rm(broker.storeDirectory, { recursive: true });
      await broker.restart();
    },
    admin: broker.api,
    remove: async () => {
      await proxy.close();
      await broker.dispose();
    },
  };
}

describe("HTTP passes the conformance suite of a transport", () => {
  test.each(TRANSPORT_PROMISES)("$name", async ({ keep }) => {
    await expect(keep(makeTransport)).resolves.toBeUndefined();
  });
});
