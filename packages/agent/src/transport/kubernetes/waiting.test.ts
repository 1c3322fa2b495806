import type { Reservation } from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { reservationBody } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { agentOnHub, outcomeOf } from "./testing/agent-on-hub.ts";

const NAME = reservationNameFor("rome", "k", sha256);
const BEAT_MS = 2000;
const BODY = { ...reservationBody({ cpu: 2, memoryGi: 4 }), wait: { for: "4h" }, namespace: "ml" };
const PENDING = {
  phase: "Pending",
  message: "Waits for 2 CPU / 4Gi Memory",
  generation: 1,
  createdAt: "2026-01-05T12:00:00.000Z",
  since: "2026-01-05T11:00:00.000Z",
  until: "2026-01-05T16:00:00.000Z",
  tenant: "ml",
  lastUpdateTime: "2026-01-05T12:00:00.000Z",
} as const;
const PLACED = {
  ...PENDING,
  lastUpdateTime: "2026-01-05T12:00:05.000Z",
  queue: { position: 2, of: 7, reason: "Capacity", share: 0, place: "2/7" },
} as const;
const TIMED_OUT = { ...PENDING, phase: "Failed", reason: "WaitTimeout", generation: 2 } as const;

/** rome asks, and may wait. */
async function asking(body: object = {}) {
  const world = await agentOnHub("rome");
  const asked = outcomeOf(world.agent.reserveOrWait({ ...BODY, ...body }, "k"));
  await world.clock.advance(0);
  return { ...world, asked };
}

test("a request that waits is answered, with all that a broker over HTTP says", async () => {
  const { hub, clock, asked, found } = await asking();
  expect(found(NAME)?.spec).toMatchObject({ key: "k", wait: { for: "4h" }, namespace: "ml" });
  hub.writeReservation(NAME, PLACED);
  await clock.advance(0);
  expect(asked.value()).toEqual({
    id: NAME,
    requesterID: "rome",
    namespace: "ml",
    tenant: "ml",
    requestedResources: { cpu: "2", memory: "4Gi" },
    status: { phase: "Pending", message: PENDING.message },
    createdAt: PENDING.createdAt,
    since: PENDING.since,
    until: PENDING.until,
    generation: 1,
    key: "k",
    tier: "on-demand",
    priority: 0,
    queue: { position: 2, of: 7, reason: "Capacity", share: 0 },
  });
});

test("a request that waits for another ledger is not answered until this one says what it knows", async () => {
  const { hub, clock, asked } = await asking();
  hub.writeReservation(NAME, { ...PENDING, ledgerID: "led-0" });
  await clock.advance(0);
  expect(asked.isOver()).toBe(false);
  hub.writeReservation(NAME, { ...PENDING, ledgerID: "led-1" });
  await clock.advance(0);
  expect(asked.value()?.status.phase).toBe("Pending");
});

test("whoever cannot wait is told that the key waits, and changes nothing", async () => {
  const { hub, agent, clock, objects } = await asking();
  hub.writeReservation(NAME, PENDING);
  const once = outcomeOf(agent.reserve(reservationBody({ cpu: 2, memoryGi: 4 }), "k"));
  await clock.advance(0);
  expect(once.fault()).toContain("no-capacity: ");
  expect(objects()).toHaveLength(1);
});

test("one that left the queue is no reservation, also if it asked for a target", async () => {
  const { hub, agent, clock } = await asking({ targetClusterID: "paris" });
  hub.writeReservation(NAME, TIMED_OUT);
  await clock.advance(0);
  expect(await agent.listReservations("requester")).toEqual([]);
  expect(await agent.getReservation(NAME)).toBeUndefined();
  expect(await agent.getWaiting(NAME)).toMatchObject({ reason: "WaitTimeout", status: { phase: "Failed" } });
  expect(await agent.listWaiting()).toEqual([]);
});

test("the reader is told of places, and of who left the queue", async () => {
  const { hub, clock, read } = await asking();
  const reader = read();
  await clock.advance(0);
  await reader.received();
  const told = async (status: Reservation["status"], spec: Partial<Reservation["spec"]> = {}) => {
    hub.writeReservation(NAME, status, spec);
    await clock.advance(0);
    return reader.received();
  };
  expect(await told(PENDING)).toEqual([`waiting ${NAME} Pending`]);
  expect(await told(PLACED)).toEqual([`waiting ${NAME} Pending`]);
  expect(await told(PLACED)).toEqual([]);
  expect(await told(TIMED_OUT)).toEqual([`waiting ${NAME} Failed`]);
});

test.each([
  { name: "names no protocol", protocol: undefined },
  { name: "has an older protocol", protocol: 2 },
])("at a broker that $name nothing waits: the request is not even sent", async ({ protocol }) => {
  const { hub, agent, clock, objects } = await agentOnHub("rome");
  const canQueue: boolean[] = [];
  agent.onResponse((response) => canQueue.push(response.canQueue));
  await agent.ping();
  hub.setProtocol(protocol);
  await clock.advance(BEAT_MS);
  const asked = outcomeOf(agent.reserveOrWait(BODY, "k"));
  await clock.advance(0);
  expect(asked.fault()).toContain("unsupported: ");
  expect(objects()).toEqual([]);
  hub.setProtocol(3);
  await clock.advance(BEAT_MS);
  await agent.ping();
  expect(canQueue).toEqual([true, false, true]);
});
