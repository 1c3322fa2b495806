import { describe, expect, test } from "vitest";
import { ledgerFrom, spareFor } from "../ledger/records.ts";
import { cluster, request } from "../testing/builders.ts";
import { recordsOf } from "../testing/comparable-ledger.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, openWorld, type World } from "../testing/world.ts";
import { admit, hold, openMarket, openQueue, pass, queue, underNotice } from "./testing/queue-world.ts";

const QUIET_MS = 4 * MINUTE_MS;
const URGENT = "rsv-oslo-urgent";
const SPOT = "rsv-rome-spot";

/** rome holds all of paris and has notice for oslo, which waits for it. */
function noticed(forMs: number, more: { activationTimeoutMs?: number; durationMs?: number } = {}): World {
  const { activationTimeoutMs, ...lasting } = more;
  const world = openMarket();
  world.policy = { ...world.policy, activationTimeoutMs };
  hold(world, "rome", "spot", { tier: "spot", ...lasting });
  pass(world, 15 * MINUTE_MS);
  queue(world, "oslo", "urgent", { priority: 50, forMs });
  admit(world);
  expect(underNotice(world)).toEqual([SPOT]);
  return world;
}

/** The broker was down for an hour. */
function restarted(before: World): World {
  const now = before.now + HOUR_MS;
  const ledger = ledgerFrom(recordsOf(before.ledger), now, QUIET_MS);
  return Object.assign(openWorld(before.policy), { ledger, now });
}

describe("after a start, before the clusters had the time to speak", () => {
  test("a call about a reservation under notice does not end it", () => {
    const world = restarted(noticed(10 * HOUR_MS));
    pass(world, 1000);
    world.run({ kind: "acknowledge", by: actor("paris"), id: SPOT });
    pass(world, QUIET_MS - 1001);
    expect(underNotice(world)).toEqual([SPOT]);
    pass(world, 1);
    expect(world.reservation(SPOT).reason).toBe("Preempted");
  });

  test("a reservation under notice that was not activated either does not end", () => {
    const world = restarted(noticed(10 * HOUR_MS, { activationTimeoutMs: 20 * MINUTE_MS }));
    pass(world, QUIET_MS - 1);
    expect(underNotice(world)).toEqual([SPOT]);
  });

  test("a reservation under notice that has expired meanwhile did so", () => {
    const world = restarted(noticed(10 * HOUR_MS, { durationMs: HOUR_MS }));
    pass(world, 0);
    expect(world.reservation(SPOT).reason).toBe("Expired");
  });

  test("what was granted from the queue may still be activated", () => {
    const before = openMarket();
    hold(before, "rome", "all");
    queue(before, "oslo", "waits");
    before.run({ kind: "release", by: actor("rome"), id: "rsv-rome-all" });
    expect(admit(before)).toEqual(["rsv-oslo-waits"]);
    const world = restarted(before);
    pass(world, QUIET_MS - 1);
    expect(world.reservation("rsv-oslo-waits").phase).toBe("Reserved");
    pass(world, 1);
    expect(world.reservation("rsv-oslo-waits").reason).toBe("ActivationTimeout");
  });

  test("short requests use what is kept for a nominated one only until it has room", () => {
    const before = openQueue();
    for (const name of ["berlin", "tokyo", "quito"]) before.advertise(cluster(name));
    for (const target of ["paris", "berlin", "tokyo", "quito"])
      before.grant("rome", request({ cpu: 4, memoryGi: 1 }, { target }), target);
    queue(before, "oslo", "big", { cpu: 15, forMs: 20 * HOUR_MS });
    admit(before);
    pass(before, 10 * MINUTE_MS);
    admit(before);
    const target = before.ledger.waiting.byId.get("rsv-oslo-big")?.nominated?.provider ?? "";
    const lasts = (minutes: number) => ({ target, durationMs: minutes * MINUTE_MS });
    before.grant("bern", request({ cpu: 12, memoryGi: 1 }, lasts(9)), "short");
    before.run({ kind: "release", by: actor("rome"), id: `rsv-rome-${target}` });
    const ledger = ledgerFrom(recordsOf(before.ledger), before.now, QUIET_MS);
    const world = Object.assign(openWorld(before.policy), { ledger, now: before.now });
    admit(world);
    const ask = (key: string, minutes: number) => {
      const ids = { key, reservationId: `rsv-kyiv-${key}`, decisionId: `dec-${key}` };
      const asked = request({ cpu: 2, memoryGi: 1 }, lasts(minutes));
      return world.reply({ kind: "reserve", requester: "kyiv", request: asked, ...ids }).kind;
    };
    expect(ask("late", 10)).toBe("refused");
    expect(ask("in-time", 9)).toBe("granted");
  });

  test("another time to spare changes nothing about a request that has left the queue", () => {
    const before = openQueue({ stalenessMs: 2 * MINUTE_MS });
    before.grant("rome", request({ cpu: 16, memoryGi: 1 }), "all");
    queue(before, "oslo", "gone", { cpu: 2 });
    before.run({ kind: "release", by: actor("oslo"), id: "rsv-oslo-gone" });
    const ledger = ledgerFrom(recordsOf(before.ledger), before.now, QUIET_MS);
    const deadlines = () => JSON.stringify(ledger.deadlines.due(Number.MAX_VALUE, 10));
    const was = deadlines();
    expect(was).toContain("rsv-oslo-gone");
    spareFor(ledger, 10 * QUIET_MS);
    expect(deadlines()).toBe(was);
  });

  test("a request whose nomination lapses does not fail", () => {
    const world = restarted(noticed(30 * MINUTE_MS));
    world.now += 2 * MINUTE_MS + 1;
    // paris is not heard.
    world.advertise(cluster("oslo", { cpu: 0, memoryGi: 0, more: { protocol: 3 } }));
    admit(world);
    expect(world.ledger.waiting.byId.get(URGENT)?.nominated).toBeUndefined();
    world.now += QUIET_MS - 2 * MINUTE_MS - 2;
    world.run({ kind: "expire-due" });
    expect(world.ledger.waiting.byId.get(URGENT)?.phase).toBe("Pending");
    world.now += 1;
    world.run({ kind: "expire-due" });
    expect(world.ledger.waiting.byId.get(URGENT)).toMatchObject({ phase: "Failed", reason: "WaitTimeout" });
  });

  test("what is new ends at its time", () => {
    const before = openMarket();
    hold(before, "rome", "all");
    const world = restarted(before);
    pass(world, 1000);
    queue(world, "oslo", "short", { forMs: 1000 });
    const grace = { graceMs: 2000, by: ADMIN, clusterId: "paris" };
    world.run({ kind: "drain", ...grace });
    pass(world, 1000);
    expect(world.ledger.waiting.byId.get("rsv-oslo-short")?.reason).toBe("WaitTimeout");
    pass(world, 1000);
    expect(world.reservation("rsv-rome-all").reason).toBe("Preempted");
  });
});
