import { describe, expect, test } from "vitest";
import {
  admit,
  hold,
  openMarket,
  openQueue,
  pass,
  queue,
  underNotice,
} from "../queue/testing/queue-world.ts";
import { cluster } from "../testing/builders.ts";
import { recordsOf } from "../testing/comparable-ledger.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import { decide } from "./decide.ts";
import { ledgerFrom } from "./records.ts";

const DRAIN = { kind: "drain", by: ADMIN, clusterId: "paris", why: "new disks", graceMs: HOUR_MS } as const;
const UNCORDON = { kind: "uncordon", by: ADMIN, clusterId: "paris" } as const;
const ID = "rsv-rome-long";

/** rome knows of notices, and holds 4 CPU at paris; the policy preempts nobody. */
function lending(): World {
  const world = openQueue();
  world.advertise(cluster("rome", { cpu: 0, memoryGi: 0, more: { protocol: 3 } }));
  hold(world, "rome", "long", { cpu: 4 });
  return world;
}

describe("a drain", () => {
  test("cordons the cluster and gives notice to what it provides, all in one commit", () => {
    const world = lending();
    const until = world.now + HOUR_MS;
    expect(world.run(DRAIN)).toEqual({
      events: [
        {
          kind: "cordoned",
          at: world.now,
          clusterId: "paris",
          cordon: { at: world.now, by: "ops", why: "new disks" },
        },
        { kind: "preempting", at: world.now, id: ID, until },
      ],
      reply: { kind: "draining", clusterId: "paris", noticed: [ID], untold: [] },
    });
    expect(world.reservation(ID)).toMatchObject({ preemption: { at: until }, generation: 2 });
  });

  test("gives the policy's grace where it does not say", () => {
    const world = lending();
    world.run({ kind: "drain", by: ADMIN, clusterId: "paris" });
    expect(world.reservation(ID).preemption).toEqual({ at: world.now + 5 * MINUTE_MS });
  });

  test("ends them at the deadline, not a millisecond earlier, whoever waits, and says why", () => {
    const world = lending();
    world.run(DRAIN);
    pass(world, HOUR_MS - 1);
    admit(world);
    expect(underNotice(world)).toEqual([ID]);
    pass(world, 1);
    expect(world.reservation(ID)).toMatchObject({
      phase: "Failed",
      reason: "Preempted",
      message: "paris is drained: new disks",
    });
  });

  test("refuses renewals meanwhile", () => {
    const world = lending();
    world.run(DRAIN);
    const reply = world.reply({ kind: "renew", by: actor("rome"), id: ID, durationMs: 9 * HOUR_MS });
    expect(reply).toMatchObject({ kind: "rejected", code: "forbidden" });
    expect(reply).toMatchObject({ message: expect.stringMatching(/because paris is drained$/) });
  });

  test("leaves those whose requester knows of no notices, and names them", () => {
    const world = lending();
    world.advertise(cluster("bern", { cpu: 0, memoryGi: 0, more: { protocol: 2 } }));
    hold(world, "bern", "older", { cpu: 1 });
    hold(world, "oslo", "silent", { cpu: 1 });
    expect(world.reply(DRAIN)).toMatchObject({
      noticed: [ID],
      untold: ["rsv-bern-older", "rsv-oslo-silent"],
    });
    pass(world, 2 * HOUR_MS);
    expect([...world.account("paris").asProvider.keys()]).toEqual(["rsv-bern-older", "rsv-oslo-silent"]);
  });

  test("of a drained cluster moves no deadline, tells those who have joined since, and says the new reason", () => {
    const world = lending();
    hold(world, "oslo", "silent", { cpu: 1 });
    world.run(DRAIN);
    const { preemption } = world.reservation(ID);
    world.now += MINUTE_MS;
    world.advertise(cluster("oslo", { cpu: 0, memoryGi: 0, more: { protocol: 3 } }));
    const { events, reply } = world.run({ ...DRAIN, why: "new racks", graceMs: MINUTE_MS });
    expect(events).toMatchObject([
      { kind: "cordoned", cordon: { why: "new racks" } },
      { kind: "preempting", id: "rsv-oslo-silent", until: world.now + MINUTE_MS },
    ]);
    expect(reply).toMatchObject({ noticed: [ID, "rsv-oslo-silent"], untold: [] });
    expect(world.reservation(ID).preemption).toEqual(preemption);
  });

  test("is an admin's, of a cluster that is known, and has a grace within bounds", () => {
    const world = lending();
    expect(world.reply({ ...DRAIN, by: actor("paris") })).toMatchObject({ code: "forbidden" });
    expect(world.reply({ ...DRAIN, clusterId: "atlantis" })).toMatchObject({ code: "not-found" });
    for (const graceMs of [0, -1, 0.5, 7 * 24 * HOUR_MS + 1])
      expect(world.reply({ ...DRAIN, graceMs })).toMatchObject({ code: "invalid" });
    expect(underNotice(world)).toEqual([]);
  });

  test("counts not against the limit of notices", () => {
    const world = openMarket({ maxUnderNotice: 0 });
    world.advertise(cluster("berlin", { cpu: 32 }));
    hold(world, "rome", "drained", { cpu: 20 });
    world.run({ ...DRAIN, clusterId: "berlin" });
    hold(world, "rome", "spot", { cpu: 16, tier: "spot" });
    pass(world, 11 * MINUTE_MS);
    queue(world, "oslo", "urgent", { priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual(["rsv-rome-drained", "rsv-rome-spot"]);
  });
});

describe("the notices of a drain", () => {
  test("are withdrawn with the cordon, in the same commit", () => {
    const world = lending();
    world.run(DRAIN);
    expect(world.run(UNCORDON).events.map(({ kind }) => kind)).toEqual(["uncordoned", "reprieved"]);
    expect(world.reservation(ID).preemption).toBeUndefined();
    pass(world, 2 * HOUR_MS);
    expect(world.reservation(ID).phase).toBe("Reserved");
  });

  test("end nobody after a start before the clusters had the time to speak", () => {
    const world = lending();
    world.run(DRAIN);
    const startedAt = world.now + 3 * HOUR_MS;
    const ledger = ledgerFrom(recordsOf(world.ledger), startedAt, 4 * MINUTE_MS);
    const endsAt = (now: number) =>
      decide(ledger, { kind: "expire-due" }, { now, policy: world.policy }).events;
    expect(endsAt(startedAt + 4 * MINUTE_MS - 1)).toEqual([]);
    expect(endsAt(startedAt + 4 * MINUTE_MS)).toMatchObject([{ kind: "ended", id: ID }]);
  });

  test("replace those for a waiting request, which then waits for another provider", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { cpu: 16, tier: "spot" });
    pass(world, 11 * MINUTE_MS);
    queue(world, "oslo", "urgent", { priority: 50, forMs: 10 * HOUR_MS });
    admit(world);
    expect(world.reservation("rsv-rome-spot").preemption).toMatchObject({ by: "rsv-oslo-urgent" });
    world.run(DRAIN);
    const drained = { at: world.now + HOUR_MS };
    expect(world.reservation("rsv-rome-spot").preemption).toEqual(drained);
    admit(world);
    expect(world.ledger.waiting.byId.get("rsv-oslo-urgent")?.nominated).toBeUndefined();
    pass(world, 6 * MINUTE_MS);
    world.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-urgent" });
    expect(world.reservation("rsv-rome-spot").preemption).toEqual(drained);
  });
});
