import { describe, expect, test } from "vitest";
import { ledgerFrom } from "../ledger/records.ts";
import { cluster } from "../testing/builders.ts";
import { recordsOf } from "../testing/comparable-ledger.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, openWorld, type World } from "../testing/world.ts";
import { admit, hold, openMarket, pass, queue, underNotice } from "./testing/queue-world.ts";

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
