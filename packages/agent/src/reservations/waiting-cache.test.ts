import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { aReservation, UID } from "../testing/samples.ts";
import type { WaitingRequest } from "./reservation.ts";
import { reservationCache } from "./reservation-cache.ts";
import { waitingCache } from "./waiting-cache.ts";

const CREATED_AT = "2026-07-01T10:00:00Z";
const YOUNGER = "2026-07-01T12:00:00Z";

function waits(changes: Partial<WaitingRequest> = {}): WaitingRequest {
  return {
    id: aReservation().id,
    requester: "rome",
    tenant: "rome",
    phase: "Pending",
    message: "Waits for 4 CPU",
    createdAt: CREATED_AT,
    until: "2026-07-02T10:00:00Z",
    generation: 1,
    key: `${UID}-1`,
    ...changes,
  };
}

function caches() {
  const reservations = reservationCache({ clusterId: "rome", now: fakeClock().wallMs });
  const waiting = waitingCache({ clusterId: "rome", reservations });
  const changed: string[] = [];
  waiting.onChange((uid) => changed.push(uid));
  return { reservations, waiting, changed };
}

const { id } = aReservation();

test("what waits is known by its request, until it is granted", () => {
  const { reservations, waiting, changed } = caches();
  expect(waiting.update(waits())).toBe("new");
  expect(waiting.update(waits())).toBe("same");
  expect(waiting.ofRequest(UID).get(1)?.id).toBe(id);
  expect(waiting.pending()).toHaveLength(1);
  reservations.update("requester", aReservation({ generation: 2 }));
  expect(waiting.get(id)).toBeUndefined();
  expect(waiting.ofRequest(UID).size).toBe(0);
  expect(changed).toEqual([UID, UID]);
});

test.each([
  ["of another cluster", waits({ requester: "paris" })],
  ["with an admin's key", waits({ key: "my-key" })],
  ["without a key", waits({ key: undefined })],
])("a waiting request %s is none of this cluster's ResourceRequests", (_, received) => {
  const { waiting } = caches();
  expect(waiting.update(received)).toBe("not-ours");
  expect(waiting.pending()).toEqual([]);
});

test("a message that arrives after the grant is old", () => {
  const { reservations, waiting } = caches();
  reservations.update("requester", aReservation({ generation: 2 }));
  expect(waiting.update(waits())).toBe("old");
  expect(waiting.update(waits({ createdAt: YOUNGER }))).toBe("new");
});

test("a request that has left the queue does not come back by an old message", () => {
  const { waiting } = caches();
  waiting.update(waits({ phase: "Failed", endReason: "WaitTimeout", generation: 2 }));
  expect(waiting.update(waits())).toBe("old");
  expect(waiting.pending()).toEqual([]);
  expect(waiting.get(id)?.phase).toBe("Failed");
  // Another ledger: it was asked for anew.
  expect(waiting.update(waits({ createdAt: YOUNGER }))).toBe("changed");
  expect(waiting.update(waits({ generation: 5 }))).toBe("old");
});

test("an event keeps the place that is known, and a final state has none", () => {
  const { waiting } = caches();
  const queue = { position: 2, of: 7, reason: "Capacity" } as const;
  waiting.update(waits({ queue, message: "at position 2 of 7" }));
  waiting.update(waits({ generation: 2 }));
  expect(waiting.get(id)).toMatchObject({ queue, message: "at position 2 of 7", generation: 2 });
  waiting.update(waits({ generation: 3, phase: "Released", message: "Released" }));
  expect(waiting.get(id)).toEqual(waits({ generation: 3, phase: "Released", message: "Released" }));
});

test("those that have left the queue are removed on demand, those that wait stay", () => {
  const { waiting } = caches();
  waiting.update(waits());
  waiting.removeLeft(() => true);
  expect(waiting.pending()).toHaveLength(1);
  waiting.update(waits({ phase: "Failed", generation: 2 }));
  waiting.removeLeft(() => false);
  expect(waiting.get(id)).toBeDefined();
  waiting.removeLeft((uid) => uid === UID);
  expect(waiting.get(id)).toBeUndefined();
});
