import { type AdoptionRequestDTO, LIMIT } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { batchesOf } from "./create-broker-client.ts";

const offers = (count: number, key: string): AdoptionRequestDTO["reservations"] =>
  Array.from({ length: count }, (_, index) => ({
    id: `rsv-rome-${index}`,
    requesterID: "rome",
    targetClusterID: "paris",
    requestedResources: { cpu: "1", memory: "1Gi" },
    phase: "Active",
    generation: 1,
    createdAt: "2026-07-01T10:00:00Z",
    key,
  }));

test.each([
  ["one", 1, "k", 1],
  ["as many as one request may have", 1000, "k", 1],
  ["more than one request may have", 2500, "k", 3],
  ["so long that they would be too large", 1000, "k".repeat(128), 2],
])("offers are sent in as few requests as the broker takes: %s", (_, count, key, requests) => {
  const reservations = offers(count, key);
  const batches = [...batchesOf({ ledgerID: "led-1", reservations })];
  expect(batches).toHaveLength(requests);
  expect(batches.flatMap((batch) => batch.reservations)).toEqual(reservations);
  for (const batch of batches) {
    expect(batch.ledgerID).toBe("led-1");
    expect(JSON.stringify(batch).length).toBeLessThanOrEqual(LIMIT.bodyBytes);
  }
});
