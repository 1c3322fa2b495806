import { parseRequest } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { REQUESTS, type TestFleet, testFleet } from "../testing/test-fleet.ts";

const HOUR_MS = 3_600_000;
const LIVE = "rsv-rome-1794795156134";
const EXPIRED = "rsv-rome-1794795000000";
const AMOUNTS = { requestedCPU: "4", requestedMemory: "8Gi" };
const API = { apiVersion: "rear.fluidos.eu/v1alpha1" } as const;

/** The broker has imported one reservation of a Go broker; both clusters still have the objects of their Go agents. */
function afterGoAgents(): TestFleet {
  const world = testFleet();
  const now = world.broker.now();
  importReservation(world);
  for (const [id, expiresAtMs] of [
    [LIVE, now + HOUR_MS],
    [EXPIRED, now - HOUR_MS],
  ] as const) {
    const spec = { ...AMOUNTS, reservationName: id, expiresAt: new Date(expiresAtMs).toISOString() };
    world.rome.put(RESERVATION_INSTRUCTIONS, {
      ...API,
      kind: "ReservationInstruction",
      metadata: { name: id, namespace: "default" },
      spec: { ...spec, targetClusterID: "paris" },
    });
    world.paris.put(PROVIDER_INSTRUCTIONS, {
      ...API,
      kind: "ProviderInstruction",
      metadata: { name: `${id}-provider`, namespace: "default" },
      spec: { ...spec, requesterClusterID: "rome" },
    });
  }
  world.rome.put(REQUESTS, servedRequest);
  return world;
}

const servedRequest: ResourceRequest = {
  ...API,
  kind: "ResourceRequest",
  metadata: { name: "more", namespace: "default" },
  spec: { ...AMOUNTS, duration: "1h" },
  status: { phase: "Reserved", targetClusterID: "paris", reservationName: LIVE },
};

function importReservation({ broker }: TestFleet): void {
  const read = parseRequest({ cpu: "4", memory: "8Gi" });
  if (!read.ok) throw new Error("the amounts of this test cannot be read");
  const { resources } = read;
  const now = broker.now();
  const reservation = {
    id: LIVE,
    requester: "rome",
    provider: "paris",
    granted: resources,
    request: { resources, priority: 0, constraints: {}, tier: "on-demand" },
    phase: "Reserved",
    key: "31495040-6742-47af-8d47-88b111260c77",
    createdAt: now,
    reservedAt: now,
    expiresAt: now + HOUR_MS,
    acknowledged: false,
    generation: 1,
  } as const;
  broker.run({ kind: "import", reservations: [reservation] });
}

describe("agents that replace Go agents, with an imported reservation", () => {
  test("continue the reservation, reserve nothing new, and remove the instructions of an expired one", async () => {
    const { broker, rome, paris, time, begin } = afterGoAgents();
    await begin();
    await time.advance(5 * 60_000);
    expect(broker.live()).toMatchObject([{ id: LIVE, phase: "Active", acknowledged: true }]);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Active", reservationName: LIVE });
    expect(rome.reservationInstructions()).toEqual([LIVE]);
    expect(paris.providerInstructions()).toEqual([LIVE]);
    expect(broker.calls.map(({ method }) => method)).not.toContain("reserve");
  });

  test("keep a reservation whose ResourceRequest was deleted before they came", async () => {
    const { broker, rome, time, begin } = afterGoAgents();
    rome.deleteRequest("more");
    await begin();
    await time.advance(5 * 60_000);
    expect(broker.live()).toMatchObject([{ id: LIVE }]);
    expect(rome.reservationInstructions()).toEqual([LIVE]);
  });
});
