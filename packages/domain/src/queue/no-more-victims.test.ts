import { describe, expect, test } from "vitest";
import { ADMIN, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import { admit, hold, openMarket, pass, queue, underNotice } from "./testing/queue-world.ts";

const URGENT = "rsv-oslo-urgent";
const SPOT = "rsv-rome-spot";

/** rome holds all of paris and has notice for oslo, which waits for it. */
function noticed(): World {
  const world = openMarket();
  hold(world, "rome", "spot", { tier: "spot" });
  pass(world, 15 * MINUTE_MS);
  queue(world, "oslo", "urgent", { priority: 50, forMs: 10 * HOUR_MS });
  admit(world);
  expect(underNotice(world)).toEqual([SPOT]);
  return world;
}

function withoutVictims(world: World): void {
  const { policy } = world;
  world.policy = { ...policy, preemption: { ...policy.preemption, victims: "none" } };
}

describe("when the policy names no victims any more", () => {
  test("notices are withdrawn at the next look at the queue, and nothing is kept for who waits", () => {
    const world = noticed();
    withoutVictims(world);
    admit(world);
    expect(underNotice(world)).toEqual([]);
    expect(world.ledger.waiting.byId.get(URGENT)).toMatchObject({ phase: "Pending" });
    expect(world.ledger.waiting.byId.get(URGENT)?.nominated).toBeUndefined();
  });

  test("nobody ends whose notice is due before that look", () => {
    const world = noticed();
    withoutVictims(world);
    pass(world, HOUR_MS);
    expect(underNotice(world)).toEqual([]);
    expect(world.reservation(SPOT).phase).toBe("Reserved");
  });

  test("a drain goes on", () => {
    const world = noticed();
    world.run({ kind: "drain", by: ADMIN, clusterId: "paris", graceMs: MINUTE_MS });
    withoutVictims(world);
    admit(world);
    expect(underNotice(world)).toEqual([SPOT]);
    pass(world, MINUTE_MS);
    expect(world.reservation(SPOT).reason).toBe("Preempted");
  });
});
