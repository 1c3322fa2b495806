import { describe, expect, test } from "vitest";
import { cluster, request, size } from "../testing/builders.ts";
import { recordsOf } from "../testing/comparable-ledger.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, openWorld, type World } from "../testing/world.ts";
import { ENDED_RETENTION_MS } from "./apply.ts";
import { decide } from "./decide.ts";
import { ledgerFrom } from "./records.ts";

function worldWithParis(policy: Parameters<typeof openWorld>[0] = {}): World {
  const world = openWorld(policy);
  world.advertise(cluster("paris"), cluster("rome"));
  return world;
}

describe("an idempotency key", () => {
  test("answers with the current state, not with the first one", () => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request(), "k");
    world.run({ kind: "activate", by: actor("rome"), id });
    expect(world.reserve("rome", request(), "k")).toMatchObject({
      kind: "current",
      isReplay: true,
      reservation: { id, phase: "Active" },
    });
  });

  test("with another request is refused and names the reservation", () => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request(), "k");
    const reply = world.reserve("rome", request({ cpu: 5 }), "k");
    expect(reply).toMatchObject({
      kind: "rejected",
      code: "key-mismatch",
      message: expect.stringContaining(id),
    });
  });

  test("of one requester means nothing to another", () => {
    const world = worldWithParis();
    world.advertise(cluster("berlin"));
    const romes = world.grant("rome", request(), "k");
    expect(world.grant("tokyo", request(), "k").id).not.toBe(romes.id);
  });

  test("is forgotten a day after the end, together with the reservation", () => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request(), "k");
    world.run({ kind: "release", by: actor("rome"), id });
    world.pass(ENDED_RETENTION_MS - 1);
    expect(world.reserve("rome", request(), "k").kind).toBe("current");
    world.pass(1);
    expect(world.ledger.reservations.has(id)).toBe(false);
    world.advertise(cluster("paris"));
    expect(world.reserve("rome", request(), "k").kind).toBe("granted");
  });

  test("released before its request arrives keeps the late request from booking", () => {
    const world = worldWithParis();
    expect(world.reply({ kind: "release-by-key", requester: "rome", key: "k" }).kind).toBe("key-closed");
    expect(world.reserve("rome", request(), "k")).toMatchObject({ kind: "rejected", code: "key-released" });
    world.pass(ENDED_RETENTION_MS - 1);
    expect(world.reserve("rome", request(), "k")).toMatchObject({ code: "key-released" });
    world.pass(1);
    world.advertise(cluster("paris"));
    expect(world.reserve("rome", request(), "k").kind).toBe("granted");
  });

  test("released again stays closed for a day from the first time, and later for another day", () => {
    const world = worldWithParis();
    const release = { kind: "release-by-key", requester: "rome", key: "k" } as const;
    world.run(release);
    world.pass(ENDED_RETENTION_MS - 1);
    world.run(release);
    expect(world.reserve("rome", request(), "k")).toMatchObject({ code: "key-released" });
    // Its day is over, and nobody has swept yet.
    world.now += 1;
    expect(world.run(release)).toMatchObject({
      events: [{ closedKey: { until: world.now + ENDED_RETENTION_MS } }],
      reply: { kind: "key-closed" },
    });
    world.pass(ENDED_RETENTION_MS - 1);
    expect(world.reserve("rome", request(), "k")).toMatchObject({ code: "key-released" });
  });

  test("can be released unused only so often", () => {
    const world = worldWithParis();
    for (let index = 0; index < 10_000; index++) {
      world.run({ kind: "release-by-key", requester: "rome", key: `k${index}` });
    }
    expect(world.reply({ kind: "release-by-key", requester: "rome", key: "one-more" })).toMatchObject({
      code: "quota-exceeded",
    });
    expect(world.reply({ kind: "release-by-key", requester: "rome", key: "k7" }).kind).toBe("key-closed");
    world.pass(ENDED_RETENTION_MS);
    for (let sweep = 0; sweep < 10; sweep++) world.pass(0);
    expect(world.reply({ kind: "release-by-key", requester: "rome", key: "one-more" }).kind).toBe(
      "key-closed",
    );
  });

  test("releases its reservation, once, and stays closed", () => {
    const world = worldWithParis();
    world.grant("rome", request(), "k");
    for (let attempt = 0; attempt < 2; attempt++) {
      const reply = world.reply({ kind: "release-by-key", requester: "rome", key: "k" });
      expect(reply).toMatchObject({ kind: "current", reservation: { phase: "Released", generation: 2 } });
    }
    expect(world.reserve("rome", request(), "k")).toMatchObject({ code: "key-released" });
    expect(world.account("paris").available).toEqual(size({ cpu: 16, memoryGi: 64 }));
  });
});

describe("who may do what to a reservation", () => {
  const calls = ["activate", "renew", "release", "acknowledge", "refuse"] as const;
  const allowed: Readonly<Record<string, readonly string[]>> = {
    rome: ["activate", "renew", "release"],
    paris: ["acknowledge", "refuse"],
    ops: ["activate", "renew", "release", "acknowledge", "refuse"],
    tokyo: [],
  };
  const rows = Object.entries(allowed).flatMap(([who, may]) =>
    calls.map((call) => ({
      who,
      call,
      outcome: may.includes(call) ? "current" : who === "tokyo" ? "not-found" : "forbidden",
    })),
  );

  test.each(rows)("$who on $call gets $outcome", ({ who, call, outcome }) => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request({}, { durationMs: HOUR_MS }));
    const by = who === "ops" ? ADMIN : actor(who);
    const reply = world.reply({ kind: call, by, id, durationMs: 2 * HOUR_MS, why: "node gone" });
    expect(reply.kind === "rejected" ? reply.code : reply.kind).toBe(outcome);
    if (outcome !== "current") expect(world.reservation(id).generation).toBe(1);
  });

  test("nobody can touch one that has ended, and nobody finds one that never was", () => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request());
    world.run({ kind: "release", by: actor("rome"), id });
    expect(world.reply({ kind: "activate", by: actor("rome"), id })).toMatchObject({ code: "already-ended" });
    expect(world.reply({ kind: "release", by: actor("rome"), id: "rsv-none" })).toMatchObject({
      code: "not-found",
    });
  });
});

describe("time", () => {
  test("a reservation without duration lasts until released, or as long as the policy says", () => {
    const open = worldWithParis();
    expect(open.grant("rome", request()).expiresAt).toBeUndefined();
    const limited = worldWithParis({ defaultTtlMs: HOUR_MS });
    expect(limited.grant("rome", request()).expiresAt).toBe(limited.now + HOUR_MS);
    const capped = worldWithParis({ maxTtlMs: HOUR_MS });
    expect(capped.grant("rome", request()).expiresAt).toBe(capped.now + HOUR_MS);
    const asked = (durationMs: number) => capped.reserve("rome", request({}, { durationMs }));
    expect(asked(2 * HOUR_MS)).toMatchObject({
      code: "ttl-too-long",
      message: "2h is longer than the policy allows (1h at most)",
    });
    expect(asked(HOUR_MS).kind).toBe("granted");
  });

  test("a renewal extends and never shortens", () => {
    const world = worldWithParis();
    const { id, expiresAt } = world.grant("rome", request({}, { durationMs: HOUR_MS }));
    world.run({ kind: "renew", by: actor("rome"), id, durationMs: MINUTE_MS });
    expect(world.reservation(id).expiresAt).toBe(expiresAt);
    world.run({ kind: "renew", by: actor("rome"), id, durationMs: 2 * HOUR_MS });
    expect(world.reservation(id).expiresAt).toBe(world.now + 2 * HOUR_MS);
  });

  test("an unactivated reservation is released when the policy says so, but never an older agent's", () => {
    const world = worldWithParis({ activationTimeoutMs: MINUTE_MS });
    const { id: romes } = world.grant("rome", request());
    const { id: active } = world.grant("rome", request());
    const { id: strangers } = world.grant("tokyo", request());
    world.run({ kind: "activate", by: actor("rome"), id: active });
    world.pass(MINUTE_MS);
    expect(world.reservation(romes).reason).toBe("ActivationTimeout");
    expect(world.reservation(active).phase).toBe("Active");
    expect(world.reservation(strangers).phase).toBe("Reserved");
  });

  test("a lost requester's reservations are released when the policy says so, but never an older agent's", () => {
    const world = worldWithParis({ requesterLostMs: 10 * MINUTE_MS });
    world.advertise(cluster("oslo", { more: { protocol: 1 } }));
    const { id: romes } = world.grant("rome", request());
    const { id: oslos } = world.grant("oslo", request());
    world.pass(10 * MINUTE_MS);
    expect(world.reservation(romes).phase).toBe("Reserved");
    world.pass(1);
    expect(world.reservation(romes).reason).toBe("RequesterLost");
    expect(world.reservation(oslos).phase).toBe("Reserved");
  });

  test("a requester that renews is not lost, even if it never advertises", () => {
    const world = worldWithParis({ requesterLostMs: 10 * MINUTE_MS });
    const { id } = world.grant("rome", request({}, { durationMs: HOUR_MS }));
    for (let round = 1; round < 5; round++) {
      world.pass(7 * MINUTE_MS);
      world.run({ kind: "renew", by: actor("rome"), id, durationMs: HOUR_MS + round * 9 * MINUTE_MS });
      world.pass(2 * MINUTE_MS);
      expect(world.reservation(id).phase).toBe("Reserved");
    }
  });

  test("nobody is lost because the broker was restarted with its clock set back", () => {
    const world = worldWithParis({ requesterLostMs: 10 * MINUTE_MS });
    world.grant("rome", request());
    const restarted = ledgerFrom(recordsOf(world.ledger), world.now - HOUR_MS);
    const moment = { now: world.now - HOUR_MS, policy: world.policy };
    expect(decide(restarted, { kind: "expire-due" }, moment).events).toEqual([]);
  });

  test("a mass of lost requesters is ended in steps", () => {
    const world = openWorld({ requesterLostMs: MINUTE_MS, defaultQuota: {} });
    const large = { cpu: 10_000, memoryGi: 100_000 };
    world.advertise(cluster("paris", large), cluster("lyon", large), cluster("rome"));
    for (let index = 0; index < 1500; index++) world.grant("rome", request({ cpu: 1, memoryGi: 1 }));
    world.now += 2 * MINUTE_MS;
    const first = world.run({ kind: "expire-due" });
    expect([first.events.length, first.reply]).toEqual([1000, { kind: "swept", hasMore: true }]);
    expect(world.run({ kind: "expire-due" }).events).toHaveLength(500);
  });

  test("a renewal costs what the longer time costs", () => {
    const world = openWorld();
    const cost = { currency: "EUR", onDemand: { cpuHour: 0.5, memoryGbHour: 0 } };
    world.advertise(cluster("paris", { more: { cost } }));
    const { id } = world.grant("rome", request({ cpu: 4 }, { durationMs: HOUR_MS }));
    world.run({ kind: "renew", by: actor("rome"), id, durationMs: 10 * HOUR_MS });
    expect(world.reservation(id).cost).toEqual({ currency: "EUR", perHour: 2, total: 20 });
  });

  test("an ended reservation is remembered as long as its provider lists it", () => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request());
    world.run({ kind: "release", by: actor("rome"), id });
    const listed = cluster("paris", { usage: [{ id, granted: { cpu: 4 }, used: { cpu: 1 } }] });
    for (let day = 0; day < 3; day++) {
      world.advertise(listed);
      world.pass(ENDED_RETENTION_MS - 1);
      world.advertise(listed);
      world.pass(1);
      expect(world.account("paris").available.cpuMillis).toBe(15_000);
    }
    world.advertise(cluster("paris"));
    world.pass(ENDED_RETENTION_MS);
    expect(world.ledger.reservations.has(id)).toBe(false);
  });

  test("start may only be now", () => {
    const world = worldWithParis();
    expect(world.reserve("rome", request({}, { start: world.now + HOUR_MS }))).toMatchObject({
      code: "not-yet",
    });
    expect(world.reserve("rome", request({}, { start: world.now - HOUR_MS }))).toMatchObject({
      code: "not-yet",
    });
    expect(world.reserve("rome", request({}, { start: world.now + 1000 })).kind).toBe("granted");
  });
});

describe("a provider", () => {
  test("that refuses gives the capacity back and is not asked again by that requester for ten minutes", () => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request());
    world.run({ kind: "refuse", by: actor("paris"), id, why: "node pool was deleted" });
    expect(world.reservation(id)).toMatchObject({
      phase: "Failed",
      reason: "ProviderRefused",
      message: "node pool was deleted",
    });
    expect(world.reserve("rome", request()).kind).toBe("refused");
    expect(world.reserve("tokyo", request()).kind).toBe("granted");
    world.pass(10 * MINUTE_MS);
    world.advertise(cluster("paris"));
    expect(world.reserve("rome", request()).kind).toBe("granted");
  });

  test("that is cordoned keeps what it lends and lends nothing new", () => {
    const world = worldWithParis();
    const { id } = world.grant("rome", request());
    const cordon = { kind: "cordon", by: ADMIN, clusterId: "paris", why: "maintenance" } as const;
    expect(world.reply({ ...cordon, by: actor("rome") })).toMatchObject({ code: "forbidden" });
    expect(world.reply({ ...cordon, clusterId: "atlantis" })).toMatchObject({ code: "not-found" });
    expect(world.reply(cordon)).toMatchObject({ kind: "cordon-set", isCordoned: true });
    expect(world.run(cordon).events).toEqual([]);
    expect(world.reserve("rome", request()).kind).toBe("refused");
    expect(world.reservation(id).phase).toBe("Reserved");
    world.run({ ...cordon, kind: "uncordon" });
    expect(world.reserve("rome", request()).kind).toBe("granted");
  });
});

describe("an advertisement", () => {
  const from = (instance: string, sequence: number, cpu: number) =>
    cluster("paris", { cpu, more: { instance, sequence } });

  test("without a sequence counts as the latest word of its agent", () => {
    const world = openWorld();
    world.advertise(cluster("paris", { cpu: 10, more: { instance: "a" } }));
    world.advertise(cluster("paris", { cpu: 11, more: { instance: "a" } }));
    expect(world.account("paris").available.cpuMillis).toBe(11_000);
  });

  test("of a replaced agent is refused after a restart, too", () => {
    const world = openWorld();
    world.advertise(from("a", 7, 10), from("b", 1, 11));
    const restarted = ledgerFrom(recordsOf(world.ledger), world.now);
    const late = { kind: "advertise", advertisement: from("a", 8, 99) } as const;
    expect(decide(restarted, late, world).reply).toMatchObject({ code: "superseded" });
  });

  test("received under a clock that ran ahead does not stay fresh for ever", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const restarted = ledgerFrom(recordsOf(world.ledger), world.now - 24 * HOUR_MS);
    expect(restarted.accounts.get("paris")?.receivedAt).toBe(world.now - 24 * HOUR_MS);
  });

  test("that names a hold twice counts the larger amounts", () => {
    const world = openWorld();
    const usage = [10, 0].map((cpu) => ({ id: "rsv-x", granted: { cpu }, used: {} }));
    world.advertise(cluster("paris", { usage }));
    expect(world.account("paris").available.cpuMillis).toBe(6000);
  });

  const nonsense = [
    { name: "not a number", more: { allocatable: size({ cpu: Number.NaN }) } },
    { name: "negative", more: { allocated: size({ cpu: -100 }) } },
    { name: "a fraction", more: { allocatable: size({ cpu: 0.0005 }) } },
    { name: "a negative extended resource", more: { capacity: size({ extended: { gpu: -1 } }) } },
    { name: "a node of negative size", more: { nodeShapes: [{ count: 1, resources: size({ cpu: -1 }) }] } },
  ];
  test.each(nonsense)("with an amount that is $name is refused", ({ more }) => {
    const world = openWorld();
    expect(world.reply({ kind: "advertise", advertisement: cluster("paris", { more }) })).toMatchObject({
      code: "invalid",
    });
  });

  test("whose amounts cannot be added up is refused and changes nothing", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const huge = { cpu: Number.MAX_SAFE_INTEGER / 1000 };
    const usage = ["x", "y"].map((id) => ({ id, granted: huge, used: {} }));
    expect(world.reply({ kind: "advertise", advertisement: cluster("paris", { usage }) })).toMatchObject({
      code: "invalid",
    });
    expect(world.account("paris").available.cpuMillis).toBe(16_000);
  });
});
