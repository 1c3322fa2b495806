import { describe, expect, test } from "vitest";
import { cluster, request } from "../testing/builders.ts";
import { actor, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import { replayQueue } from "./queue-record.ts";
import { admit, hold, openMarket, openQueue, pass, queue, underNotice } from "./testing/queue-world.ts";

const LONG = { forMs: 20 * HOUR_MS };

/** The decision of the first grant or notice that a look leads to. */
function firstDecision(world: World) {
  const [event] = world.run({ kind: "admit", decisionId: "dec" }).events;
  const decision = event !== undefined && "decision" in event ? event.decision : undefined;
  if (decision === undefined) throw new Error(`expected a decision, got ${event?.kind}`);
  return decision;
}

test("at most 64 requests are planned", () => {
  const world = openQueue();
  for (let index = 2; index <= 66; index++) world.advertise(cluster(`lender-${index}`));
  for (let index = 1; index <= 66; index++)
    world.grant("rome", request({ cpu: 16 }, { durationMs: HOUR_MS }), `k-${index}`);
  for (let index = 1; index <= 66; index++) queue(world, "oslo", `k-${index}`, { cpu: 16 });
  admit(world);
  expect(world.ledger.plans.size).toBe(64);
});

describe("a renewal at the provider of a nominated request", () => {
  /** Four clusters lend 16 CPU each; rome holds 9 of each without an end, and 4 of each for an hour. oslo is nominated for 15. */
  function nominated(): { world: World; provider: string } {
    const world = openQueue();
    for (const name of ["berlin", "tokyo", "quito"]) world.advertise(cluster(name));
    for (const key of ["a", "b", "c", "d"]) world.grant("rome", request({ cpu: 9, memoryGi: 1 }), key);
    for (const key of ["e", "f", "g", "h"])
      world.grant("rome", request({ cpu: 4, memoryGi: 1 }, { durationMs: HOUR_MS }), key);
    queue(world, "oslo", "large", { cpu: 15, ...LONG });
    admit(world);
    pass(world, 10 * MINUTE_MS);
    admit(world);
    const provider = world.ledger.waiting.byId.get("rsv-oslo-large")?.nominated?.provider;
    if (provider === undefined) throw new Error("expected a nomination");
    return { world, provider };
  }

  test("does not prolong what the request needs, and elsewhere does", () => {
    const { world, provider } = nominated();
    const ends = ["e", "f", "g", "h"].map((key) => {
      const { id, provider: at, expiresAt = 0 } = world.reservation(`rsv-rome-${key}`);
      world.run({ kind: "renew", by: actor("rome"), id, durationMs: 2 * HOUR_MS });
      return [at === provider, (world.reservation(id).expiresAt ?? 0) > expiresAt];
    });
    expect(ends.filter(([isThere]) => isThere)).toEqual([[true, false]]);
    expect(ends.filter(([isThere]) => !isThere)).toEqual([1, 2, 3].map(() => [false, true]));
  });
});

describe("notices", () => {
  test("are sought for eight requests a look, in their order", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { tier: "spot" });
    pass(world, 15 * MINUTE_MS);
    for (let index = 0; index < 8; index++)
      queue(world, "oslo", `too-large-${index}`, { cpu: 99, priority: 9 });
    queue(world, "oslo", "ninth", { cpu: 16, priority: 8 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
    admit(world);
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
  });

  test("are sought for everybody in turn, also where nothing but time leads to another look", () => {
    const world = openMarket();
    for (let index = 0; index < 40; index++)
      queue(world, "oslo", `too-large-${index}`, { cpu: 99, priority: 9, ...LONG });
    hold(world, "rome", "spot", { tier: "spot" });
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "last", { cpu: 16, priority: 8, ...LONG });
    for (let looks = 0; looks < 11; looks++) {
      admit(world);
      pass(world, MINUTE_MS / 2);
    }
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
  });

  test("are not given where a request that comes first is planned", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { tier: "spot", durationMs: 3 * HOUR_MS });
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "first", { tier: "spot", priority: 5, ...LONG });
    admit(world);
    expect(world.ledger.plans.get("rsv-oslo-first")?.provider).toBe("paris");
    queue(world, "bern", "second", LONG);
    pass(world, MINUTE_MS);
    admit(world);
    expect(underNotice(world)).toEqual([]);
    world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-first" });
    pass(world, MINUTE_MS);
    admit(world);
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
  });

  test("have the four best alternatives in their record", () => {
    const world = openMarket();
    const names = ["berlin", "kyiv", "lima", "quito", "tokyo"];
    hold(world, "rome", "paris", { tier: "spot", priority: 9 });
    for (const [index, name] of names.entries()) {
      world.advertise(cluster(name));
      hold(world, "rome", name, { tier: "spot", priority: index });
    }
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "urgent", { priority: 50 });
    const { notice } = firstDecision(world);
    expect(notice?.chosen.provider).toBe("berlin");
    expect(notice?.alternatives.map(({ provider }) => provider)).toEqual(["kyiv", "lima", "quito", "tokyo"]);
  });
});

describe("the record of a grant from the queue", () => {
  test("names eight others at most", () => {
    const world = openQueue();
    world.grant("rome", request({ cpu: 16 }), "all");
    for (let index = 0; index < 12; index++) queue(world, "oslo", `k-${index}`, { cpu: 1 });
    world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-all" });
    expect(firstDecision(world).queue?.next).toHaveLength(8);
  });

  test("is wrong if another tenant has a lower share", () => {
    const world = openQueue();
    world.grant("rome", request({ cpu: 8 }), "most");
    world.grant("rome", request({ cpu: 4 }), "rest");
    world.grant("oslo", request({ cpu: 4 }), "some");
    queue(world, "rome", "a", { cpu: 4 });
    queue(world, "oslo", "b", { cpu: 4 });
    world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-rest" });
    const decision = firstDecision(world);
    expect(decision.queue).toMatchObject({
      tenant: "oslo",
      share: 0.25,
      next: [{ tenant: "rome", share: 0.5 }],
    });
    expect(replayQueue(decision)).toBeUndefined();
    const { queue: record } = decision;
    if (record === undefined) throw new Error("expected a record");
    expect(replayQueue({ ...decision, queue: { ...record, share: 0.501 } })).toBe(
      "rsv-rome-a comes first and was not passed over",
    );
  });
});

test("the place of a preempted reservation can be taken over for an hour", () => {
  const world = openMarket();
  hold(world, "rome", "spot", { tier: "spot" });
  const since = world.now;
  pass(world, 15 * MINUTE_MS);
  queue(world, "oslo", "urgent", { priority: 50 });
  admit(world);
  pass(world, 5 * MINUTE_MS);
  expect(admit(world)).toEqual(["rsv-oslo-urgent"]);
  world.run({ kind: "activate", by: actor("oslo"), id: "rsv-oslo-urgent" });
  pass(world, HOUR_MS);
  expect(queue(world, "rome", "again", { resumes: "rsv-rome-spot" }).since).toBe(since);
});
