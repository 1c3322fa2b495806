import { expect, test } from "vitest";
import { cluster, request } from "../testing/builders.ts";
import { actor, HOUR_MS } from "../testing/world.ts";
import { admit, openQueue, queue } from "./testing/queue-world.ts";

test("a renewal ends in time for a plan that needs what the pods use, if that is more than was granted", () => {
  const world = openQueue();
  world.grant("rome", request({ cpu: 2, memoryGi: 1 }, { durationMs: HOUR_MS }), "k");
  const end = world.now + HOUR_MS;
  const usage = [{ id: "rsv-rome-k", granted: { cpu: 2, memoryGi: 1 }, used: { cpu: 8, memoryGi: 1 } }];
  world.advertise(cluster("paris", { usage }));
  queue(world, "oslo", "waits", { cpu: 10, forMs: 5 * HOUR_MS });
  admit(world);
  expect(world.ledger.plans.has("rsv-oslo-waits")).toBe(true);
  const renew = { kind: "renew", by: actor("rome"), id: "rsv-rome-k", durationMs: 2 * HOUR_MS } as const;
  expect(world.reply(renew)).toMatchObject({ reservation: { expiresAt: end } });
});
