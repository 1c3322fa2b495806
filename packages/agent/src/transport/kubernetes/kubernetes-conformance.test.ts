import { TRANSPORT_PROMISES, type TransportUnderTest, testCertificates } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { startHub } from "./testing/hub.ts";

const certificates = await testCertificates();

async function makeTransport(): Promise<TransportUnderTest> {
  const { connect, sim, loseLedger, stop } = await startHub(certificates);
  return { connect: (clusterId) => connect(clusterId), cut: sim.faults.cut, loseLedger, remove: stop };
}

describe("Kubernetes passes the conformance suite of a transport", () => {
  test.each(TRANSPORT_PROMISES)("$name", async ({ keep }) => {
    await expect(keep(makeTransport)).resolves.toBeUndefined();
  });
});
