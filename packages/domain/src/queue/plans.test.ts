import { describe, expect, test } from "vitest";
import { apply } from "../ledger/apply.ts";
import { cluster, request } from "../testing/builders.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import { queuePlaces } from "./queue-place.ts";
import { admit, ask, openQueue, pass, queue } from "./testing/queue-world.ts";

/** rome holds 10 of 16 CPU of paris for an hour; oslo waits first for all 16. */
function planned(): World {
  const world = openQueue();
  world.grant("rome", request({ cpu: 10, memoryGi: 1 }, { durationMs: HOUR_MS }), "holder");
  queue(world, "oslo", "big", { cpu: 16, forMs: 5 * HOUR_MS });
  admit(world);
  return world;
}

const TURNAROUND_MS = 5 * MINUTE_MS;

test("a waiting request is planned for when enough has ended, and the time it takes to be usable", () => {
  const world = planned();
  expect(world.ledger.plans.get("rsv-oslo-big")).toMatchObject({
    provider: "paris",
    from: world.now + HOUR_MS + TURNAROUND_MS,
  });
});

test("the earliest provider is planned, and each has one plan", () => {
  const world = openQueue();
  world.advertise(cluster("berlin"));
  for (const [key, minutes] of [
    ["a", 60],
    ["b", 30],
  ] as const)
    world.grant("rome", request({ cpu: 16, memoryGi: 1 }, { durationMs: minutes * MINUTE_MS }), key);
  const second = world.reservation("rsv-rome-b").provider;
  for (const key of ["1", "2", "3"]) queue(world, "oslo", key, { cpu: 16 });
  admit(world);
  expect(world.ledger.plans.get("rsv-oslo-1")?.provider).toBe(second);
  expect(world.ledger.plans.get("rsv-oslo-2")?.provider).toBe(world.reservation("rsv-rome-a").provider);
  expect(world.ledger.plans.has("rsv-oslo-3")).toBe(false);
});

const BESIDE: readonly { name: string; asks: Parameters<typeof ask>[3]; kind: string }[] = [
  { name: "one that ends in time", asks: { cpu: 6, durationMs: HOUR_MS }, kind: "granted" },
  { name: "one that ends a moment too late", asks: { cpu: 6, durationMs: HOUR_MS + 1 }, kind: "waiting" },
  { name: "an open-ended one", asks: { cpu: 1 }, kind: "waiting" },
  { name: "an open-ended one of higher priority", asks: { cpu: 6, priority: 1 }, kind: "granted" },
];

test.each(BESIDE)("beside a plan, $name is $kind", ({ asks, kind }) => {
  const world = planned();
  expect(ask(world, "bern", "other", asks).kind).toBe(kind);
});

test("what the planned request does not need is for anybody", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 10, memoryGi: 1 }, { durationMs: HOUR_MS }), "holder");
  queue(world, "oslo", "most", { cpu: 12 });
  admit(world);
  expect(ask(world, "bern", "five", { cpu: 5 }).kind).toBe("waiting");
  expect(ask(world, "bern", "four", { cpu: 4 }).kind).toBe("granted");
  expect(ask(world, "bern", "one", { cpu: 1 }).kind).toBe("waiting");
});

test("who is refused for a plan is told so", () => {
  const world = planned();
  const { refusedBy, candidates } = world.refusal("bern", request({ cpu: 2, memoryGi: 1 }));
  expect(refusedBy).toEqual({ "kept-for-others": 1 });
  expect(candidates[0]?.outcome).toMatchObject({
    refusal: {
      message: `keeps 16 CPU / 1Gi Memory from 2026-01-05T13:05:00.000Z for a request that waits`,
      summary: "keeps what it has for a request that waits",
    },
  });
});

test("the planned request starts no later than planned, though others come and go", () => {
  const world = planned();
  const { from = 0 } = world.ledger.plans.get("rsv-oslo-big") ?? {};
  for (let minute = 0; minute < 60; minute++) {
    ask(world, "bern", `short-${minute}`, { cpu: 6, durationMs: 3 * MINUTE_MS });
    pass(world, MINUTE_MS);
    admit(world);
    if (world.ledger.reservations.has("rsv-oslo-big")) break;
  }
  expect(world.reservation("rsv-oslo-big").reservedAt).toBeLessThanOrEqual(from);
});

test("what has come back of what a plan waits for is not lent to those behind it", () => {
  const world = openQueue();
  for (const [key, minutes] of [
    ["a", 30],
    ["b", 60],
  ] as const)
    world.grant("rome", request({ cpu: 5, memoryGi: 1 }, { durationMs: minutes * MINUTE_MS }), key);
  queue(world, "oslo", "big", { cpu: 16, forMs: 5 * HOUR_MS });
  admit(world);
  world.now++;
  queue(world, "bern", "open", { cpu: 5 });
  pass(world, 30 * MINUTE_MS);
  expect(world.account("paris").available.cpuMillis).toBe(11_000);
  expect(admit(world)).toEqual([]);
  pass(world, 30 * MINUTE_MS);
  expect(admit(world)).toEqual(["rsv-oslo-big"]);
});

test("what has ended and is being torn down is still planned with", () => {
  const world = planned();
  const { from } = world.ledger.plans.get("rsv-oslo-big") ?? {};
  const holder = { cpu: 10, memoryGi: 1 };
  const tearingDown = cluster("paris", {
    usage: [{ id: "rsv-rome-holder", granted: holder, used: holder }],
  });
  world.advertise(tearingDown);
  pass(world, HOUR_MS);
  pass(world, 2 * MINUTE_MS);
  expect(world.reservation("rsv-rome-holder").phase).toBe("Released");
  admit(world);
  expect(world.ledger.plans.get("rsv-oslo-big")).toMatchObject({ provider: "paris", from });
  expect(ask(world, "bern", "open", { cpu: 6 }).kind).toBe("waiting");
  world.advertise(cluster("paris"));
  expect(admit(world)).toEqual(["rsv-oslo-big"]);
});

test("a plan ends with its request, and what was kept is for the others", () => {
  const world = planned();
  world.now++;
  queue(world, "bern", "open", { cpu: 6 });
  admit(world);
  world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-big" });
  expect(world.ledger.isSettled).toBe(false);
  expect(admit(world)).toEqual(["rsv-bern-open"]);
});

test("a cordon moves the plan to another provider", () => {
  const world = planned();
  world.advertise(cluster("berlin", { allocated: { cpu: 0 } }));
  expect(admit(world)).toEqual(["rsv-oslo-big"]);
});

describe("a renewal", () => {
  test("of capacity that is planned for ends in time for it, and never earlier than before", () => {
    const world = planned();
    const renew = (durationMs: number) =>
      world.reply({ kind: "renew", by: actor("rome"), id: "rsv-rome-holder", durationMs });
    const end = world.now + HOUR_MS;
    expect(renew(2 * HOUR_MS)).toMatchObject({ reservation: { expiresAt: end } });
    expect(renew(MINUTE_MS)).toMatchObject({ reservation: { expiresAt: end } });
  });

  test("of what nobody needs is granted in full", () => {
    const world = openQueue();
    world.grant("rome", request({ cpu: 8, memoryGi: 1 }, { durationMs: HOUR_MS }), "holder");
    world.grant("rome", request({ cpu: 2, memoryGi: 1 }, { durationMs: 2 * HOUR_MS }), "other");
    queue(world, "oslo", "most", { cpu: 12 });
    admit(world);
    const reply = world.reply({
      kind: "renew",
      by: actor("rome"),
      id: "rsv-rome-other",
      durationMs: 9 * HOUR_MS,
    });
    expect(reply).toMatchObject({ reservation: { expiresAt: world.now + 9 * HOUR_MS } });
  });
});

describe("where reservations are open-ended", () => {
  /** rome holds 3 of 16 CPU without an end, of a fleet that lends 64; oslo waits for 15. */
  function stuck(): World {
    const world = openQueue();
    for (const name of ["berlin", "tokyo", "quito"]) world.advertise(cluster(name));
    for (const key of ["a", "b", "c", "d"])
      world.grant("rome", request({ cpu: key === "a" ? 3 : 4, memoryGi: 1 }), key);
    queue(world, "oslo", "big", { cpu: 15, forMs: 20 * HOUR_MS });
    admit(world);
    return world;
  }
  const HOLD_AFTER_MS = 10 * MINUTE_MS;

  test("the first request is nominated after a while to the provider that lacks least, and gets what becomes free", () => {
    const world = stuck();
    pass(world, HOLD_AFTER_MS - 1);
    admit(world);
    expect(world.ledger.waiting.byId.get("rsv-oslo-big")?.nominated).toBeUndefined();
    pass(world, 1);
    admit(world);
    const { provider } = world.reservation("rsv-rome-a");
    expect(world.ledger.waiting.byId.get("rsv-oslo-big")).toMatchObject({
      nominated: { provider, since: world.now },
      generation: 2,
    });
    expect(ask(world, "bern", "long", { cpu: 13, durationMs: 16 * MINUTE_MS }).kind).toBe("waiting");
    expect(admit(world)).toEqual([]);
    expect(ask(world, "bern", "short", { cpu: 13, durationMs: 15 * MINUTE_MS }).kind).toBe("granted");
    pass(world, 15 * MINUTE_MS);
    world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-a" });
    expect(admit(world)[0]).toBe("rsv-oslo-big");
  });

  test("what was kept for a nominated request that is released is looked at again", () => {
    const world = stuck();
    pass(world, HOLD_AFTER_MS);
    admit(world);
    queue(world, "bern", "long", { cpu: 13 });
    admit(world);
    expect(world.ledger.isSettled).toBe(true);
    world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-big" });
    expect(world.ledger.isSettled).toBe(false);
    expect(admit(world)).toEqual(["rsv-bern-long"]);
  });

  test("a plan of a look that is ahead of the commits is kept when the nomination has ended", () => {
    const world = stuck();
    pass(world, HOLD_AFTER_MS);
    admit(world);
    const { kept } = world.ledger.accounts.get(world.reservation("rsv-rome-a").provider) ?? {};
    if (kept === undefined) throw new Error("expected a nomination");
    const plan = { ...kept, id: "rsv-bern-next", from: world.now + HOUR_MS };
    apply(world.ledger, { kind: "settled", at: world.now, plans: [plan] });
    expect(world.ledger.accounts.get(kept.provider)?.kept?.id).toBe("rsv-oslo-big");
    world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-big" });
    expect(world.ledger.accounts.get(kept.provider)?.kept?.id).toBe("rsv-bern-next");
  });

  test("a nomination lapses when its provider is cordoned, and another provider is found", () => {
    const world = stuck();
    pass(world, HOLD_AFTER_MS);
    admit(world);
    const { provider } = world.reservation("rsv-rome-a");
    world.run({ kind: "cordon", by: ADMIN, clusterId: provider });
    admit(world);
    expect(world.ledger.waiting.byId.get("rsv-oslo-big")?.nominated?.provider).not.toBe(provider);
    expect(world.ledger.accounts.get(provider)?.kept).toBeUndefined();
  });

  test.each([
    [
      "is silent",
      (world: World) => {
        world.now += 4 * MINUTE_MS + 1;
        for (const name of ["paris", "berlin", "tokyo", "quito"]) world.advertise(cluster(name));
      },
    ],
    [
      "holds what its quota allows",
      (world: World) => {
        world.policy = { ...world.policy, quotas: { oslo: { cpuMillis: 0 } } };
        pass(world, MINUTE_MS);
      },
    ],
  ])("a nomination lapses when its requester %s: nothing is kept for it", (_, change) => {
    const world = stuck();
    world.advertise(cluster("oslo", { cpu: 0, memoryGi: 0 }));
    pass(world, HOLD_AFTER_MS);
    admit(world);
    const { provider } = world.reservation("rsv-rome-a");
    expect(world.account(provider).kept?.id).toBe("rsv-oslo-big");
    change(world);
    admit(world);
    expect(world.account(provider).kept).toBeUndefined();
    expect(world.ledger.waiting.byId.get("rsv-oslo-big")?.phase).toBe("Pending");
  });

  test("short requests use what is kept, and once the others there have known ends, only until then", () => {
    const world = stuck();
    pass(world, HOLD_AFTER_MS);
    admit(world);
    const { provider } = world.reservation("rsv-rome-a");
    const short = { target: provider, durationMs: 15 * MINUTE_MS };
    const reserve = (key: string, more: typeof short, cpu = 3) => {
      const ids = { reservationId: `rsv-bern-${key}`, decisionId: `dec-${key}` };
      const asked = request({ cpu, memoryGi: 1 }, more);
      return world.reply({ kind: "reserve", requester: "bern", key, request: asked, ...ids }).kind;
    };
    expect(reserve("first", short, 13)).toBe("granted");
    world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-a" });
    expect(admit(world)).toEqual([]);
    expect([...queuePlaces(world.ledger, world, () => true)]).toMatchObject([
      { nominatedTo: provider, expectedStart: world.now + 15 * MINUTE_MS + TURNAROUND_MS },
    ]);
    pass(world, 6 * MINUTE_MS);
    expect(admit(world)).toEqual([]);
    expect(reserve("late", short)).toBe("refused");
    expect(reserve("in-time", { ...short, durationMs: 9 * MINUTE_MS })).toBe("granted");
    pass(world, 9 * MINUTE_MS);
    expect(admit(world)).toEqual(["rsv-oslo-big"]);
  });

  /** oslo waits for 15 of 16 CPU and holds one; bern holds less and goes first. */
  function overtaken(): World {
    const world = openQueue();
    world.grant("oslo", request({ cpu: 1, memoryGi: 1 }, { durationMs: 20 * HOUR_MS }), "own");
    world.grant("rome", request({ cpu: 8, memoryGi: 1 }, { durationMs: 2 * HOUR_MS }), "half");
    queue(world, "oslo", "big", { cpu: 15, forMs: 20 * HOUR_MS });
    queue(world, "bern", "next", { cpu: 8, forMs: 20 * HOUR_MS, durationMs: 2 * HOUR_MS });
    admit(world);
    return world;
  }
  const nominatedTo = ({ ledger }: World) => ledger.waiting.byId.get("rsv-oslo-big")?.nominated?.provider;

  test("whom tenants that hold less have overtaken for long is nominated, and goes before them", () => {
    const world = overtaken();
    pass(world, 6 * HOLD_AFTER_MS - 1);
    admit(world);
    expect(nominatedTo(world)).toBeUndefined();
    pass(world, 1);
    admit(world);
    expect(nominatedTo(world)).toBe("paris");
    pass(world, HOUR_MS);
    expect(admit(world)).toEqual(["rsv-oslo-big"]);
  });

  test("whoever is first and starts when it was told is not nominated; if that is put off, it is", () => {
    const world = planned();
    pass(world, 6 * HOLD_AFTER_MS - 1);
    admit(world);
    expect(nominatedTo(world)).toBeUndefined();
    const { expiresAt } = world.reservation("rsv-rome-holder");
    const more = { durationMs: 3 * HOUR_MS, priority: 1, cpu: 6 };
    expect(ask(world, "bern", "urgent", more).kind).toBe("granted");
    pass(world, 1);
    admit(world);
    expect(expiresAt).toBe(world.now);
    expect(nominatedTo(world)).toBe("paris");
  });

  test("the provider that has room first is preferred to those of which nobody knows when", () => {
    const world = openQueue();
    for (const name of ["berlin", "tokyo"]) world.advertise(cluster(name));
    world.grant("rome", request({ cpu: 1, memoryGi: 1 }, { target: "berlin" }), "a");
    world.grant("rome", request({ cpu: 9, memoryGi: 1 }, { target: "paris", durationMs: 9 * HOUR_MS }), "b");
    world.grant("rome", request({ cpu: 1, memoryGi: 1 }, { target: "tokyo" }), "c");
    world.grant("oslo", request({ cpu: 2, memoryGi: 1 }, { target: "tokyo" }), "own");
    queue(world, "oslo", "big", { cpu: 16, forMs: 20 * HOUR_MS });
    queue(world, "bern", "next", { cpu: 16, forMs: 20 * HOUR_MS });
    admit(world);
    pass(world, 6 * HOLD_AFTER_MS);
    admit(world);
    expect(nominatedTo(world)).toBe("paris");
  });
});

test("a request that may take what is kept for others takes it only where nothing else fits", () => {
  const world = planned();
  world.advertise(cluster("berlin", { cpu: 3, memoryGi: 2 }));
  admit(world);
  const urgent = { priority: 5, durationMs: 20 * HOUR_MS };
  expect(ask(world, "bern", "small", { ...urgent, cpu: 2 }).kind).toBe("granted");
  expect(world.reservation("rsv-bern-small").provider).toBe("berlin");
  expect(ask(world, "bern", "large", { ...urgent, cpu: 6 }).kind).toBe("granted");
  expect(world.reservation("rsv-bern-large").provider).toBe("paris");
});

test("for a staleness after a start nothing is planned, but what fits is granted", () => {
  const world = openQueue();
  world.ledger.startedAt = world.now;
  world.grant("rome", request({ cpu: 10, memoryGi: 1 }, { durationMs: HOUR_MS }), "holder");
  queue(world, "oslo", "big", { cpu: 16 });
  admit(world);
  expect(world.ledger.plans.size).toBe(0);
  pass(world, 2 * MINUTE_MS);
  admit(world);
  expect(world.ledger.plans.size).toBe(1);
});

test("whoever fits once a plan has moved elsewhere is granted in the same look", () => {
  const world = openQueue();
  world.advertise(cluster("berlin"));
  world.grant("rome", request({ cpu: 16, memoryGi: 1 }), "all");
  const { provider } = world.reservation("rsv-rome-all");
  const other = provider === "paris" ? "berlin" : "paris";
  world.grant("rome", request({ cpu: 10, memoryGi: 1 }, { durationMs: HOUR_MS }), "some");
  queue(world, "oslo", "big", { cpu: 16, forMs: 5 * HOUR_MS });
  admit(world);
  world.now += 1;
  queue(world, "bern", "small", { cpu: 6 });
  expect(world.ledger.plans.get("rsv-oslo-big")?.provider).toBe(other);
  const { granted } = world.reservation("rsv-rome-all");
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-all" });
  const usage = [{ reservationId: "rsv-rome-all", granted, used: granted }];
  world.advertise(cluster(provider, { more: { usage } }));
  expect(admit(world)).toEqual(["rsv-bern-small"]);
  expect(world.ledger.plans.get("rsv-oslo-big")?.provider).toBe(provider);
  expect(world.ledger.isSettled).toBe(true);
});

test("whoever fits once a plan is put off is granted in the same look", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 10, memoryGi: 1 }, { durationMs: HOUR_MS }), "most");
  world.grant("rome", request({ cpu: 4, memoryGi: 1 }, { durationMs: 2 * HOUR_MS }), "rest");
  queue(world, "oslo", "big", { cpu: 12, forMs: 5 * HOUR_MS });
  admit(world);
  const before = world.ledger.plans.get("rsv-oslo-big")?.from ?? 0;
  world.now += 1;
  queue(world, "bern", "urgent", { cpu: 5, priority: 10, durationMs: 3 * HOUR_MS });
  queue(world, "kyiv", "small", { cpu: 1, durationMs: 2 * HOUR_MS });
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-rest" });
  expect(admit(world)).toEqual(["rsv-bern-urgent", "rsv-kyiv-small"]);
  expect(world.ledger.plans.get("rsv-oslo-big")?.from).toBeGreaterThan(before);
  expect(world.ledger.isSettled).toBe(true);
});
