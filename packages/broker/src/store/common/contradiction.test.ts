import type { Member, Reservation, Waiting } from "@resource-broker/domain";
import { identityKey, secretHash } from "@resource-broker/domain/testing";
import { requestFor } from "@resource-broker/testkit";
import { expect, it } from "vitest";
import { contradictionIn } from "./contradiction.ts";

const LIVE: Reservation = {
  id: "rsv-1",
  requester: "rome",
  provider: "paris",
  granted: requestFor(1).resources,
  request: requestFor(1),
  phase: "Reserved",
  createdAt: 1,
  reservedAt: 1,
  acknowledged: false,
  generation: 1,
};

const ENDED: Reservation = {
  ...LIVE,
  id: "rsv-2",
  phase: "Released",
  reason: "Expired",
  endedAt: 2,
  keepUntil: 3,
};

const HUGE = { ...LIVE.granted, memoryBytes: Number.MAX_SAFE_INTEGER - 1 };

type Row = readonly [name: string, says: string, reservations: readonly Reservation[]];
const CONTRADICTIONS: readonly Row[] = [
  ["no provider", "rsv-1 has no provider", [{ ...LIVE, provider: "" }]],
  ["no requester", "rsv-1 has no requester", [{ ...LIVE, requester: "" }]],
  ["a cluster in both roles", "is both requester and provider", [{ ...LIVE, requester: "paris" }]],
  ["a phase that is never stored", "is in phase Pending", [{ ...LIVE, phase: "Pending" }]],
  ["an end without an ended phase", "Active, yet has ended", [{ ...ENDED, phase: "Active" }]],
  ["an ended phase without an end", "Failed, yet has not ended", [{ ...LIVE, phase: "Failed" }]],
  ["a negative grant", "impossible amount", [{ ...LIVE, granted: { ...LIVE.granted, gpus: -1 } }]],
  ["a fraction of a unit", "impossible amount", [{ ...LIVE, granted: { ...LIVE.granted, cpuMillis: 0.5 } }]],
  [
    "more lent than can be counted",
    "paris exceed what can be counted",
    [LIVE, ENDED, { ...LIVE, id: "rsv-3" }].map((each) => ({ ...each, granted: HUGE })),
  ],
  [
    "one key for two reservations",
    "key k of rome made both rsv-1 and rsv-2",
    [LIVE, ENDED].map((each) => ({ ...each, key: "k" })),
  ],
];

it.each(CONTRADICTIONS)("records with %s contradict themselves", (_, says, reservations) => {
  expect(contradictionIn({ reservations, waiting: [], members: [], cordons: [] })).toContain(says);
});

it("live and ended reservations, and one key for each of two requesters, do not", () => {
  const keyed = [
    { ...LIVE, id: "a", key: "k" },
    { ...LIVE, id: "b", requester: "bonn", key: "k" },
  ];
  expect(
    contradictionIn({ reservations: [LIVE, ENDED, ...keyed], waiting: [], members: [], cordons: [] }),
  ).toBeUndefined();
});

const PENDING: Waiting = {
  id: "rsv-w1",
  requester: "rome",
  request: requestFor(1),
  key: "w1",
  protocol: 3,
  phase: "Pending",
  createdAt: 1,
  since: 1,
  until: 2,
  generation: 1,
};
const LEFT: Waiting = {
  ...PENDING,
  id: "rsv-w2",
  key: "w2",
  phase: "Failed",
  reason: "WaitTimeout",
  endedAt: 2,
  keepUntil: 3,
  generation: 2,
};
const { reason: _, ...WITHOUT_REASON } = LEFT;
const NEGATIVE = { ...PENDING.request, resources: { ...PENDING.request.resources, gpus: -1 } };

const WRONG_WAITING: readonly (readonly [name: string, says: string, waiting: readonly Waiting[]])[] = [
  ["a phase of a reservation", "rsv-w1 is in phase Reserved", [{ ...PENDING, phase: "Reserved" }]],
  ["an end, though pending", "Pending, yet has left the queue", [{ ...LEFT, phase: "Pending" }]],
  ["no end, though final", "Released, yet has not left the queue", [{ ...PENDING, phase: "Released" }]],
  ["no reason, though final", "Failed, yet has not left the queue", [WITHOUT_REASON]],
  ["no requester", "rsv-w1 has no requester", [{ ...PENDING, requester: "" }]],
  ["an impossible amount", "asks for an impossible amount", [{ ...PENDING, request: NEGATIVE }]],
  ["an end before its beginning", "rsv-w1 ends before it was made", [{ ...PENDING, until: 0 }]],
  ["the ID of a reservation", "rsv-1 waits, and is a reservation", [{ ...PENDING, id: "rsv-1" }]],
  ["the key of a reservation", "key k of rome made both rsv-1 and rsv-w1", [{ ...PENDING, key: "k" }]],
  ["the key of another", "key w2 of rome made both rsv-w2 and rsv-w1", [LEFT, { ...PENDING, key: "w2" }]],
];

it.each(WRONG_WAITING)("a waiting request with %s is a contradiction", (_name, says, waiting) => {
  expect(
    contradictionIn({ reservations: [{ ...LIVE, key: "k" }], waiting, members: [], cordons: [] }),
  ).toContain(says);
});

it("requests that wait or have left the queue are none", () => {
  const ofOther: Waiting = { ...PENDING, id: "rsv-w3", requester: "bonn" };
  const waiting = [PENDING, LEFT, ofOther];
  expect(contradictionIn({ reservations: [LIVE], waiting, members: [], cordons: [] })).toBeUndefined();
});

it("a reservation under notice for a request that does not wait for its provider is a contradiction", () => {
  const noticed: Reservation = { ...LIVE, preemption: { by: "rsv-w1", priority: 1, at: 9 } };
  const nominated: Waiting = { ...PENDING, nominated: { provider: "paris", since: 1, victims: ["rsv-1"] } };
  const says = (waiting: Waiting) =>
    contradictionIn({ reservations: [noticed], waiting: [waiting], members: [], cordons: [] });
  expect(says(nominated)).toBeUndefined();
  expect(says(PENDING)).toBe("reservation rsv-1 is under notice for no request that waits, and no drain");
  expect(says({ ...LEFT, id: "rsv-w1" })).toBe(
    "reservation rsv-1 is under notice for no request that waits, and no drain",
  );
});

it("a reservation under notice of a drain, whose provider is not cordoned, is a contradiction", () => {
  const drained: Reservation = { ...LIVE, preemption: { at: 9 } };
  const says = (clusterId: string) =>
    contradictionIn({
      reservations: [drained],
      waiting: [],
      members: [],
      cordons: [[clusterId, { at: 1, by: "ops" }]],
    });
  expect(says("paris")).toBeUndefined();
  expect(says("rome")).toBe("reservation rsv-1 is under notice for no request that waits, and no drain");
});

const INVITATION = {
  tokenId: "token00001",
  secretHash: secretHash("a"),
  by: "ops",
  at: 1,
  expiresAt: 2,
  needsConfirmation: false,
};
const INVITED: Member = { clusterId: "rome", invitation: INVITATION, since: 1 };
const KEY = identityKey("A");
const JOINED: Member = { ...INVITED, key: KEY, invitation: { ...INVITATION, key: KEY } };
const WRONG_MEMBERS: readonly (readonly [says: string, members: readonly Member[]])[] = [
  ["rome was neither invited nor evicted, and has no key", [{ clusterId: "rome", since: 1 }]],
  ["has no cluster ID", [{ ...INVITED, clusterId: "" }]],
  ["has an impossible time", [{ ...INVITED, since: -1 }]],
  ["has a key that is none", [{ ...JOINED, key: "short" }]],
  ["was evicted, yet its key is bound", [{ ...JOINED, evictedAt: 1 }]],
  ["has a damaged invitation", [{ ...INVITED, invitation: { ...INVITATION, secretHash: "" } }]],
  ["has a damaged invitation", [{ ...INVITED, invitation: { ...INVITATION, key: "short" } }]],
  ["has an invitation of impossible time", [{ ...INVITED, invitation: { ...INVITATION, expiresAt: 1 } }]],
  ["does not have the key that used its invitation", [{ ...JOINED, key: identityKey("B") }]],
  ["oslo has the token of rome", [INVITED, { ...INVITED, clusterId: "oslo" }]],
];

it.each(WRONG_MEMBERS)("a member that %s is a contradiction", (says, members) => {
  expect(contradictionIn({ reservations: [], waiting: [], members, cordons: [] })).toContain(says);
});

it("members that were invited, wait, have joined or were evicted are none", () => {
  const members: Member[] = [
    JOINED,
    { clusterId: "oslo", key: KEY, since: 1 },
    { clusterId: "paris", evictedAt: 1, since: 1 },
    {
      clusterId: "bonn",
      evictedAt: 1,
      invitation: { ...INVITATION, tokenId: "token00002", needsConfirmation: true, key: KEY },
      since: 1,
    },
  ];
  expect(contradictionIn({ reservations: [], waiting: [], members, cordons: [] })).toBeUndefined();
});
