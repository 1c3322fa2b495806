import type { AdoptionRequestDTO } from "@resource-broker/contract";
import { advertisementBody } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { aReservation, aWireReservation, UID } from "../testing/samples.ts";
import { noBroker } from "./no-broker.ts";
import { brokerCommunicator } from "./broker-communicator.ts";

test("amounts are rounded up, so that a provider holds no less than is reserved", () => {
  const { resources } = aReservation({ requestedResources: { cpu: "0.1005", memory: "1.5" } });
  expect(resources).toMatchObject({ cpuMillis: 101, memoryBytes: 2 });
  expect(aReservation({ requestedResources: { cpu: "much", memory: "1" } }).resources).toBeUndefined();
});

test("the instructions in the reply to an advertisement are passed on, where the broker sends them", async () => {
  const advertisement = advertisementBody("paris", { cpu: 1, memoryGi: 1 });
  const publish = (reply: object) =>
    brokerCommunicator({
      ...noBroker(),
      publish: async () => ({ advertisement, ...reply }),
    }).publish(advertisement);
  expect(await publish({ providerInstructions: [aWireReservation()] })).toEqual({
    advertisement,
    instructions: [aReservation()],
  });
  expect((await publish({})).instructions).toBeUndefined();
});

test("an offer for adoption has everything that the broker's ledger needs", async () => {
  const offered: AdoptionRequestDTO[] = [];
  const { adopt } = brokerCommunicator({
    ...noBroker(),
    adopt: async (offers) => {
      offered.push(offers);
      return { results: [] };
    },
  });
  const expiresAt = "2026-07-01T11:30:00Z";
  await adopt([aReservation({ status: { phase: "Active", message: "", expiresAt }, generation: 7 })]);
  expect(offered).toEqual([
    {
      reservations: [
        {
          id: "rsv-rome-k3u7dq2hvmx5b4ta",
          requesterID: "rome",
          targetClusterID: "paris",
          requestedResources: { cpu: "4", memory: "8Gi" },
          phase: "Active",
          generation: 7,
          createdAt: "2026-07-01T10:00:00Z",
          expiresAt,
          key: `${UID}-1`,
        },
      ],
    },
  ]);
});
