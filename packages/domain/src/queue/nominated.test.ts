import { expect, test } from "vitest";
import { cluster, request } from "../testing/builders.ts";
import { actor, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import { admit, openQueue, pass, queue } from "./testing/queue-world.ts";

const LARGE = { cpu: 15, forMs: 20 * HOUR_MS };

/** Eight clusters lend 16 CPU each, together 128. rome holds 9 CPU of each, without an end. */
function openFleet(): World {
  const world = openQueue();
  for (let index = 2; index <= 8; index++) world.advertise(cluster(`lender-${index}`));
  for (let index = 1; index <= 8; index++)
    world.grant("rome", request({ cpu: 9, memoryGi: 1 }), `part-${index}`);
  return world;
}

/** Time passes, and the queue is looked at. */
function wait(world: World, minutes: number): void {
  for (let minute = 0; minute < minutes; minute++) {
    pass(world, MINUTE_MS);
    admit(world);
  }
}

function nominated({ ledger }: World): string[] {
  const entries = [...ledger.waiting.byId.values()].filter((entry) => entry.nominated !== undefined);
  return entries.map(({ key }) => key).sort();
}

test("a request for more than a quarter of the fleet is nominated alone, and lets nobody else be nominated before it", () => {
  const world = openFleet();
  world.advertise(cluster("huge", { cpu: 60 }));
  world.grant("rome", request({ cpu: 58, memoryGi: 1 }), "huge");
  queue(world, "kyiv", "small", LARGE);
  wait(world, 11);
  expect(nominated(world)).toEqual(["small"]);
  queue(world, "oslo", "too-much", { ...LARGE, cpu: 60 });
  wait(world, 11);
  queue(world, "bern", "behind", LARGE);
  wait(world, 75);
  expect(nominated(world)).toEqual(["small"]);
  world.run({ kind: "release", by: actor("kyiv"), id: "rsv-kyiv-small" });
  admit(world);
  expect(nominated(world)).toEqual(["too-much"]);
});

test("a second request of a nominated tenant is not nominated, and does not keep others from it", () => {
  const world = openFleet();
  queue(world, "oslo", "one", LARGE);
  wait(world, 11);
  expect(nominated(world)).toEqual(["one"]);
  queue(world, "oslo", "two", { ...LARGE, priority: 2 });
  queue(world, "bern", "three", { ...LARGE, priority: 1 });
  wait(world, 11);
  expect(nominated(world)).toEqual(["one", "three"]);
  const providers = [...world.ledger.waiting.byId.values()].flatMap(
    (entry) => entry.nominated?.provider ?? [],
  );
  expect(new Set(providers).size).toBe(2);
});

test("a request whose only provider is nominated to another does not keep those behind it from being nominated", () => {
  const world = openFleet();
  queue(world, "oslo", "one", { ...LARGE, cpu: 11 });
  wait(world, 11);
  const target = world.ledger.waiting.byId.get("rsv-oslo-one")?.nominated?.provider;
  if (target === undefined) throw new Error("expected a nomination");
  const asked = request({ cpu: 11, memoryGi: 1 }, { target, priority: 2 });
  const ids = { reservationId: "rsv-kyiv-two", decisionId: "dec-two" };
  world.run({ kind: "reserve", requester: "kyiv", key: "two", request: asked, wait: {}, ...ids });
  queue(world, "bern", "three", { ...LARGE, cpu: 11, priority: 1 });
  wait(world, 11);
  expect(nominated(world)).toEqual(["one", "three"]);
});

test("all nominations together keep no more than a quarter of the fleet", () => {
  const world = openFleet();
  for (const [index, requester] of ["oslo", "bern", "kyiv"].entries()) {
    queue(world, requester, requester, { ...LARGE, cpu: 11, priority: index });
    wait(world, 11);
  }
  // A quarter of 128 CPU is 32.
  expect(nominated(world)).toEqual(["bern", "oslo"]);
});
