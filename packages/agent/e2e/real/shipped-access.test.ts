import { controlPlaneAssets, testCertificates, TRANSPORT_PROMISES } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ShippedHub, shippedHub } from "./testing/shipped-hub.ts";

const START_TIMEOUT_MS = 180_000;

describe.skipIf(!controlPlaneAssets().isThere)(
  "with the shipped rights and rules, on a real API server, Kubernetes keeps every promise of a transport",
  () => {
    let hub: ShippedHub;
    beforeAll(async () => {
      hub = await shippedHub(await testCertificates());
    }, START_TIMEOUT_MS);
    afterAll(() => hub?.dispose(), START_TIMEOUT_MS);

    test.each(TRANSPORT_PROMISES)("$name", async ({ keep }) => {
      await expect(keep(hub.makeTransport)).resolves.toBeUndefined();
    });
  },
);
