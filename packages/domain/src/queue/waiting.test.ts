import { expect, test } from "vitest";
import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import { cluster, priced, request, size } from "../testing/builders.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, openWorld, type World } from "../testing/world.ts";
import { shareOf } from "./order.ts";
import { admit, ask, openQueue, queue } from "./testing/queue-world.ts";

test("a request that fits is granted at once, and one that does not waits until something is released", () => {
  const world = openQueue();
  expect(ask(world, "rome", "first").kind).toBe("granted");
  const waiting = queue(world, "oslo", "second");
  expect(waiting).toMatchObject({ phase: "Pending", until: world.now + HOUR_MS, generation: 1 });
  world.pass(MINUTE_MS);
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-first" });
  expect(admit(world)).toEqual(["rsv-oslo-second"]);
  const reservation = world.reservation("rsv-oslo-second");
  expect(reservation).toMatchObject({
    phase: "Reserved",
    provider: "paris",
    generation: 2,
    createdAt: waiting.createdAt,
    reservedAt: world.now,
    activateBy: world.now + 15 * MINUTE_MS,
  });
  expect(world.ledger.waiting.byId.size).toBe(0);
});

test("a retry finds the request in the queue, and later its reservation, and never prolongs the wait", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  const waiting = queue(world, "oslo", "k");
  world.pass(MINUTE_MS);
  const again = ask(world, "oslo", "k", { forMs: 2 * HOUR_MS });
  expect(again).toEqual({ kind: "waiting", waiting, isReplay: true });
  expect(ask(world, "oslo", "k", { cpu: 2 })).toMatchObject({ kind: "rejected", code: "key-mismatch" });
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" });
  admit(world);
  expect(ask(world, "oslo", "k")).toMatchObject({ kind: "current", isReplay: true });
});

test("higher priority goes first, then who came first", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "oslo", "late", { cpu: 8, priority: 0 });
  world.pass(1);
  queue(world, "oslo", "later", { cpu: 8, priority: 0 });
  queue(world, "oslo", "urgent", { cpu: 8, priority: 10 });
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" });
  expect(admit(world)).toEqual(["rsv-oslo-urgent", "rsv-oslo-late"]);
});

test("among tenants of one priority the one with the lowest share of the fleet goes first, by weight", () => {
  const tenants = {
    ml: { members: [{ cluster: "rome", namespaces: ["ml-*"] }], weight: 4, quota: {} },
    web: { members: [{ cluster: "rome", namespaces: ["web"] }], weight: 1, quota: {} },
  };
  const world = openQueue({ tenants });
  world.grant("oslo", request({ cpu: 16 }), "holder");
  for (const key of ["m1", "m2", "m3", "m4"]) queue(world, "rome", key, { cpu: 4, namespace: "ml-train" });
  world.pass(1);
  for (const key of ["w1", "w2", "w3", "w4"]) queue(world, "rome", key, { cpu: 4, namespace: "web" });
  world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-holder" });
  // Of equal shares who came first; then web holds 0.25 and ml stays below it up to four times as much.
  expect(admit(world)).toEqual(["rsv-rome-m1", "rsv-rome-w1", "rsv-rome-m2", "rsv-rome-m3"]);
  expect(shareOf(world.ledger, "ml", world.policy)).toBe(0.188);
  expect(shareOf(world.ledger, "web", world.policy)).toBe(0.25);
});

test("a newcomer does not take what another waits for", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "oslo", "waits");
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" });
  expect(world.reserve("rome", request({ cpu: 16 }))).toMatchObject({ kind: "rejected", code: "overloaded" });
  expect(ask(world, "rome", "newcomer").kind).toBe("waiting");
  expect(admit(world)).toEqual(["rsv-oslo-waits"]);
  expect(world.reserve("rome", request({ cpu: 16 })).kind).toBe("refused");
});

const FREEING: readonly {
  readonly name: string;
  readonly policy?: object;
  readonly free: (world: World) => void;
}[] = [
  {
    name: "a release",
    free: (world) => world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" }),
  },
  { name: "an expiry", free: (world) => world.pass(30 * MINUTE_MS) },
  { name: "an advertisement with more", free: (world) => world.advertise(cluster("paris", { cpu: 32 })) },
  { name: "a new cluster", free: (world) => world.advertise(cluster("berlin")) },
];

test.each(FREEING)("$name lets a waiting request in", ({ free }) => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }, { durationMs: 30 * MINUTE_MS }), "holder");
  queue(world, "oslo", "waits");
  expect(world.ledger.isSettled).toBe(true);
  expect(admit(world)).toEqual([]);
  free(world);
  // Both have to be heard lately.
  world.advertise(
    cluster("oslo", { cpu: 0 }),
    cluster("paris", {
      cpu: world.account("paris").advertisement?.allocatable.cpuMillis === 32_000 ? 32 : 16,
    }),
  );
  expect(world.ledger.isSettled).toBe(false);
  expect(admit(world)).toEqual(["rsv-oslo-waits"]);
  expect(world.ledger.isSettled).toBe(true);
});

test("a provider that is heard again lets a waiting request in, though it offers what it did", () => {
  const world = openQueue();
  world.now += 10 * MINUTE_MS;
  queue(world, "oslo", "waits");
  expect(admit(world)).toEqual([]);
  expect(world.ledger.isSettled).toBe(true);
  world.advertise(cluster("paris"));
  expect(world.ledger.isSettled).toBe(false);
  expect(admit(world)).toEqual(["rsv-oslo-waits"]);
});

test("what is uncordoned lets a waiting request in", () => {
  const world = openQueue();
  world.run({ kind: "cordon", by: ADMIN, clusterId: "paris" });
  queue(world, "oslo", "waits");
  world.run({ kind: "uncordon", by: ADMIN, clusterId: "paris" });
  expect(admit(world)).toEqual(["rsv-oslo-waits"]);
});

test("a smaller request behind one that does not fit is granted", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 10 }), "holder");
  queue(world, "oslo", "big", { cpu: 16, priority: 5 });
  expect(ask(world, "rome", "small", { cpu: 4 }).kind).toBe("granted");
});

test("a request over its quota waits, and is let in when its cluster gives something back", () => {
  const world = openQueue({ quotas: { oslo: { reservations: 1 } } });
  ask(world, "oslo", "one", { cpu: 1 });
  queue(world, "oslo", "two", { cpu: 1 });
  expect(admit(world)).toEqual([]);
  world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-one" });
  expect(admit(world)).toEqual(["rsv-oslo-two"]);
});

test("a tenant's quota counts what all its clusters hold", () => {
  const tenants = {
    ml: { members: [{ cluster: "rome" }, { cluster: "oslo" }], weight: 1, quota: { cpuMillis: 8000 } },
  };
  const world = openQueue({ tenants });
  expect(ask(world, "rome", "a", { cpu: 5 }).kind).toBe("granted");
  expect(world.reserve("oslo", request({ cpu: 5 }))).toMatchObject({
    kind: "rejected",
    code: "quota-exceeded",
    message: "ml may hold 8 CPU; it holds 5 CPU and asks for 5 CPU",
  });
  queue(world, "oslo", "b", { cpu: 5 });
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-a" });
  expect(admit(world)).toEqual(["rsv-oslo-b"]);
  expect(world.reservation("rsv-oslo-b").tenant).toBe("ml");
});

test("a requester that has not been heard is passed over, keeps its place, and is served when it speaks", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  world.advertise(cluster("oslo", { cpu: 0 }));
  queue(world, "oslo", "silent", { cpu: 16 });
  world.pass(5 * MINUTE_MS);
  queue(world, "rome", "heard", { cpu: 16 });
  world.advertise(cluster("paris"));
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" });
  expect(admit(world)).toEqual(["rsv-rome-heard"]);
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-heard" });
  world.advertise(cluster("oslo", { cpu: 0 }));
  expect(admit(world)).toEqual(["rsv-oslo-silent"]);
  expect(world.account("oslo").lastSeenAt).toBe(world.now);
});

test("a cluster that has never advertised has no agent that could be silent: it is served", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "nobody", "by-hand", { cpu: 16 });
  world.pass(30 * MINUTE_MS);
  world.advertise(cluster("paris"));
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" });
  expect(admit(world)).toEqual(["rsv-nobody-by-hand"]);
});

test("a grant from the queue is no word of its requester", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "oslo", "waits");
  const heard = world.now;
  world.pass(MINUTE_MS);
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" });
  admit(world);
  expect(world.account("oslo").lastSeenAt).toBe(heard);
});

const LEAVING: readonly {
  readonly name: string;
  readonly leave: (world: World) => void;
  readonly phase: string;
  readonly reason: string;
}[] = [
  {
    name: "released by its requester",
    leave: (world) => world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-k" }),
    phase: "Released",
    reason: "ReleasedByRequester",
  },
  {
    name: "released by its key",
    leave: (world) => world.run({ kind: "release-by-key", requester: "oslo", key: "k" }),
    phase: "Released",
    reason: "ReleasedByRequester",
  },
  {
    name: "released by an admin",
    leave: (world) => world.run({ kind: "release", by: ADMIN, id: "rsv-oslo-k" }),
    phase: "Released",
    reason: "ReleasedByAdmin",
  },
  {
    name: "of an evicted cluster",
    leave: (world) => world.run({ kind: "evict", by: ADMIN, clusterId: "oslo" }),
    phase: "Released",
    reason: "ReleasedByAdmin",
  },
  {
    name: "of a lost cluster",
    leave: (world) => {
      world.advertise(cluster("oslo", { cpu: 0 }));
      world.pass(40 * MINUTE_MS);
    },
    phase: "Released",
    reason: "RequesterLost",
  },
  {
    name: "that waited in vain",
    leave: (world) => world.pass(HOUR_MS),
    phase: "Failed",
    reason: "WaitTimeout",
  },
];

test.each(LEAVING)("a request $name leaves the queue, stays readable for a day, and is forgotten", (row) => {
  const world = openQueue({ requesterLostMs: 30 * MINUTE_MS });
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "oslo", "k");
  row.leave(world);
  const left = world.ledger.waiting.byId.get("rsv-oslo-k");
  expect(left).toMatchObject({ phase: row.phase, reason: row.reason, generation: 2, endedAt: world.now });
  expect(world.ledger.waiting.pendingCount).toBe(0);
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-holder" });
  expect(admit(world)).toEqual([]);
  world.pass(24 * HOUR_MS);
  expect(world.ledger.waiting.byId.size).toBe(0);
  expect(world.ledger.keys.has("oslo\nk")).toBe(false);
});

test("who waited in vain is told why", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "oslo", "k");
  world.pass(HOUR_MS);
  expect(world.ledger.waiting.byId.get("rsv-oslo-k")?.message).toBe(
    "No cluster can lend 16 CPU / 1Gi Memory to oslo; 1 considered.",
  );
});

test("only its requester and admins can release a waiting request, and a released key does not queue again", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "oslo", "k");
  const byOther = world.reply({ kind: "release", by: actor("rome"), id: "rsv-oslo-k" });
  expect(byOther).toMatchObject({ kind: "rejected", code: "not-found" });
  world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-k" });
  expect(ask(world, "oslo", "k")).toMatchObject({ kind: "rejected", code: "key-released" });
});

const BAD = [
  { name: "without a key", wait: { forMs: 1 }, key: undefined, code: "invalid" },
  { name: "for no time", wait: { forMs: 0 }, key: "k", code: "invalid" },
  { name: "for half a millisecond", wait: { forMs: 0.5 }, key: "k", code: "invalid" },
  { name: "longer than allowed", wait: { forMs: 24 * HOUR_MS + 1 }, key: "k", code: "ttl-too-long" },
] as const;

test("a request that does not say how long waits as long as the policy allows", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 16 }), "holder");
  const command = { kind: "reserve", requester: "oslo", request: request({ cpu: 16 }), wait: {} } as const;
  world.run({ ...command, key: "k", reservationId: "rsv-oslo-k", decisionId: "dec-x" });
  expect(world.ledger.waiting.byId.get("rsv-oslo-k")?.until).toBe(world.now + 24 * HOUR_MS);
});

test.each(BAD)("a request that would wait $name is rejected", ({ wait, key, code }) => {
  const world = openQueue();
  const command = { kind: "reserve", requester: "rome", request: request(), wait } as const;
  const ids = { reservationId: "rsv-rome-x", decisionId: "dec-x" };
  const reply = world.reply({ ...command, ...ids, ...(key === undefined ? {} : { key }) });
  expect(reply).toMatchObject({ kind: "rejected", code });
});

test("beyond its limits the queue is full, and says which limit", () => {
  const queuePolicy = { ...openWorld().policy.queue, max: 3, maxPerTenant: 2 };
  const world = openQueue({ queue: queuePolicy });
  world.grant("rome", request({ cpu: 16 }), "holder");
  queue(world, "oslo", "a");
  queue(world, "oslo", "b");
  expect(ask(world, "oslo", "c")).toMatchObject({
    kind: "rejected",
    code: "queue-full",
    message: "2 requests of oslo wait already; the policy allows 2 (queue.perTenant)",
  });
  queue(world, "rome", "d");
  expect(ask(world, "bern", "e")).toMatchObject({
    code: "queue-full",
    message: "3 requests wait already; the policy allows 3 (queue.max)",
  });
});

test("a priority above the tenant's maximum is rejected, not lowered", () => {
  const tenants = { ml: { members: [{ cluster: "rome" }], weight: 1, quota: {}, maxPriority: 5 } };
  const world = openQueue({ tenants });
  expect(ask(world, "rome", "a", { priority: 6 })).toMatchObject({
    kind: "rejected",
    code: "priority-too-high",
    message: "priority 6 is above the maximum of ml, 5",
  });
  expect(ask(world, "rome", "b", { priority: 5 }).kind).toBe("granted");
});

const TERMS: readonly { name: string; more: Partial<Advertisement>; request: Partial<ReservationRequest> }[] =
  [
    { name: "another price", more: { cost: priced(0.001) }, request: {} },
    {
      name: "another label",
      more: { labels: { zone: "a" } },
      request: { constraints: { labels: { zone: "a" } } },
    },
    {
      name: "a larger node",
      more: { nodeShapes: [{ count: 1, resources: size({ cpu: 8 }) }] },
      request: { perNode: size({ cpu: 8 }) },
    },
  ];

test.each(TERMS)(
  "$name lets a waiting request in though nothing has become free, before a newcomer",
  (row) => {
    const world = openQueue({
      tenants: {
        ml: { members: [{ cluster: "oslo" }], weight: 1, quota: {}, budget: { perDay: 1_000_000 } },
      },
    });
    const isPrice = row.more.cost !== undefined;
    const terms = { cost: priced(isPrice ? 1 : 0.001) };
    world.advertise(cluster("paris", { more: terms }));
    const reserve = {
      kind: "reserve",
      requester: "oslo",
      request: request({ cpu: 4 }, row.request),
      key: "k",
      wait: {},
      reservationId: "rsv-oslo-k",
      decisionId: "dec",
    } as const;
    expect(world.reply(reserve).kind).toBe("waiting");
    admit(world);
    world.now += 1;
    world.advertise(cluster("paris", { more: { ...terms, ...row.more } }));
    expect(ask(world, "bern", "newcomer").kind).toBe("waiting");
    expect(admit(world)[0]).toBe("rsv-oslo-k");
  },
);
