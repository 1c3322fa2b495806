import { DEFAULT_POLICY, emptyLedger, type ReservationId, type Waiting } from "@resource-broker/domain";
import { NOON, request } from "@resource-broker/domain/testing";
import { expect, test } from "vitest";
import { queuePlaces } from "./queue-places.ts";

const MINUTE_MS = 60_000;

/** So many requests wait; those with an even number have an object. */
function queueOf(count: number) {
  const ledger = emptyLedger();
  const ids = Array.from({ length: count }, (_, index) => `rsv-rome-${String(index).padStart(4, "0")}`);
  const entryOf = (id: ReservationId): Waiting => ({
    id,
    requester: "rome",
    request: request(),
    key: id,
    protocol: 3,
    phase: "Pending",
    createdAt: NOON,
    since: NOON,
    until: NOON + 60 * MINUTE_MS,
    generation: 1,
  });
  for (const id of ids) ledger.waiting.put(entryOf(id));
  let now = NOON;
  const engine = { ledger, policy: DEFAULT_POLICY, now: () => now };
  return {
    ids,
    ledger,
    places: queuePlaces(engine, (id) => Number(id.slice(-4)) % 2 === 0),
    pass: (ms: number): void => void (now += ms),
  };
}

test("a look computes the places of those that have an object, in the whole queue", () => {
  const { places, ids } = queueOf(6);
  expect(places.look()).toEqual([ids[0], ids[2], ids[4]]);
  expect(ids.map((id) => places.of(id)?.position)).toEqual([1, undefined, 3, undefined, 5, undefined]);
});

test("nobody's place is computed twice within a minute", () => {
  const { places, pass } = queueOf(6);
  expect(places.look()).toHaveLength(3);
  pass(MINUTE_MS - 1);
  expect(places.look()).toEqual([]);
  pass(1);
  expect(places.look()).toHaveLength(3);
});

test("a look computes a hundred places at most, and the next look goes on", () => {
  const { places, ids } = queueOf(202);
  expect(places.look()).toHaveLength(100);
  expect(places.look()).toEqual([ids[200]]);
});

test("the place of who left the queue is forgotten", () => {
  const { places, ledger, ids } = queueOf(2);
  const [id = ""] = ids;
  places.look();
  ledger.waiting.remove(id);
  expect(places.look()).toEqual([]);
  expect(places.of(id)).toBeUndefined();
});
