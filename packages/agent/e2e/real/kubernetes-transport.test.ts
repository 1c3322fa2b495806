import { controlPlaneAssets, TRANSPORT_PROMISES, testCertificates } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RealHub, startRealHub } from "./testing/real-hub.ts";

const START_TIMEOUT_MS = 600_000;

describe.skipIf(!controlPlaneAssets().isThere)(
  "the kubernetes transport on a real API server, with no more rights than an issued kubeconfig",
  () => {
    let hub: RealHub;
    beforeAll(async () => {
      hub = await startRealHub(await testCertificates());
    }, START_TIMEOUT_MS);
    afterAll(() => hub?.dispose(), START_TIMEOUT_MS);

    test.each(TRANSPORT_PROMISES)("$name", async ({ keep }) => {
      await expect(keep(hub.makeTransport)).resolves.toBeUndefined();
    });
  },
);
