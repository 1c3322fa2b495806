import { expect, test } from "vitest";
import type { ClusterObjects, LedgerReservation, Snapshot, TestRequest } from "./snapshot.ts";
import { violations } from "./violations.ts";

const request: TestRequest = { uid: "u1", cluster: "rome", name: "more", isWanted: true };
const reservation: LedgerReservation = {
  id: "rsv-1",
  uid: "u1",
  requester: "rome",
  provider: "paris",
  isLive: true,
};
const rome: ClusterObjects = {
  cluster: "rome",
  requests: [{ uid: "u1", phase: "Active", id: "rsv-1" }],
  reservationInstructions: [{ id: "rsv-1", isDone: true }],
  providerInstructions: [],
};
const paris: ClusterObjects = {
  cluster: "paris",
  requests: [],
  reservationInstructions: [],
  providerInstructions: [{ id: "rsv-1", isDone: true }],
};
const ended = { ...reservation, isLive: false };
const nothing = { requests: [], reservationInstructions: [], providerInstructions: [] };

const snapshotOf = (change: {
  reservations?: LedgerReservation[];
  rome?: Partial<ClusterObjects>;
  paris?: Partial<ClusterObjects>;
}): Snapshot => ({
  reservations: change.reservations ?? [reservation],
  objects: [
    { ...rome, ...change.rome },
    { ...paris, ...change.paris },
  ],
});

test("what agrees is no violation", () => {
  expect(violations([request], snapshotOf({}))).toEqual([]);
  const taken = { ...request, isWanted: false };
  expect(violations([taken], snapshotOf({ reservations: [ended], rome: nothing, paris: nothing }))).toEqual(
    [],
  );
});

const rows: readonly [string, readonly TestRequest[], Snapshot, string][] = [
  ["a lost one", [request], snapshotOf({ reservations: [] }), "more of rome is not booked"],
  ["one that ended", [request], snapshotOf({ reservations: [ended] }), "more of rome is not booked"],
  [
    "a doubled one, also when the second has ended",
    [request],
    snapshotOf({ reservations: [reservation, { ...ended, id: "rsv-2" }] }),
    "more of rome is booked 2 times",
  ],
  [
    "one that was taken back",
    [{ ...request, isWanted: false }],
    snapshotOf({}),
    "more of rome was deleted, and is booked still",
  ],
  ["one that nobody wants", [], snapshotOf({}), "rsv-1 is booked, and nobody asked for it"],
  [
    "a missing borrowing",
    [request],
    snapshotOf({ rome: { reservationInstructions: [] } }),
    "ReservationInstructions of rome: rsv-1 is booked, and not there",
  ],
  [
    "an undelivered borrowing",
    [request],
    snapshotOf({ rome: { reservationInstructions: [{ id: "rsv-1", isDone: false }] } }),
    "ReservationInstructions of rome: rsv-1 is booked, and not there",
  ],
  [
    "a missing hold",
    [request],
    snapshotOf({ paris: { providerInstructions: [] } }),
    "ProviderInstructions of paris: rsv-1 is booked, and not there",
  ],
  [
    "a hold too many",
    [request],
    snapshotOf({
      paris: { providerInstructions: [...paris.providerInstructions, { id: "rsv-0", isDone: true }] },
    }),
    "ProviderInstructions of paris: rsv-0 is there, and not booked",
  ],
  [
    "a request that does not know",
    [request],
    snapshotOf({ rome: { requests: [{ uid: "u1", phase: "Reserved", id: "rsv-1" }] } }),
    "more of rome is not Active with its reservation",
  ],
];

test.each(rows)("%s is found", (_, requests, snapshot, problem) => {
  expect(violations(requests, snapshot)).toContain(problem);
});
