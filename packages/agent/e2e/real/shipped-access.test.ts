import {
  advertisementBody,
  controlPlaneAssets,
  reservationBody,
  TRANSPORT_PROMISES,
  testCertificates,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ShippedHub, shippedHub } from "./testing/shipped-hub.ts";

const START_TIMEOUT_MS = 600_000;

describe.skipIf(!controlPlaneAssets().isThere)(
  "with the shipped rights and rules, on a real API server, Kubernetes passes the conformance suite of a transport",
  () => {
    let hub: ShippedHub;
    beforeAll(async () => {
      hub = await shippedHub(await testCertificates());
    }, START_TIMEOUT_MS);
    afterAll(() => hub?.dispose(), START_TIMEOUT_MS);

    test.each(TRANSPORT_PROMISES)("$name", async ({ keep }) => {
      await expect(keep(() => hub.makeTransport())).resolves.toBeUndefined();
    });

    test("a broker keeps its ledger there, too, and finds it again", async () => {
      const transport = await hub.makeTransport("kubernetes");
      const [rome, paris] = [await transport.connect("rome"), await transport.connect("paris")];
      await paris.publish(advertisementBody("paris", { cpu: 16, memoryGi: 64 }));
      const { id } = await rome.reserve(reservationBody({ cpu: 2, memoryGi: 4 }), "k");
      await transport.restart();
      expect(await rome.getReservation(id)).toMatchObject({ id, targetClusterID: "paris" });
      await rome.release(id);
      for (const agent of [rome, paris]) await agent.close();
      await transport.remove();
    });
  },
);
