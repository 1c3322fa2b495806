import { describe, expect, test } from "vitest";
import { cluster, request } from "../testing/builders.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import { explainWaiting, type QueuePlace, queuePlaces } from "./queue-place.ts";
import { admit, hold, openMarket, openQueue, queue } from "./testing/queue-world.ts";

function places(world: World): QueuePlace[] {
  return [...queuePlaces(world.ledger, { now: world.now, policy: world.policy }, () => true)];
}

const reasons = (world: World) => places(world).map(({ entry, reason }) => [entry.key, reason]);

/** Time passes, and clusters are heard: all, or those named. */
function pass(world: World, ms: number, heard: readonly string[] = [...world.ledger.accounts.keys()]): void {
  world.now += ms;
  for (const { clusterId, advertisement } of world.ledger.accounts.values())
    if (heard.includes(clusterId))
      world.advertise(advertisement ?? cluster(clusterId, { cpu: 0, memoryGi: 0 }));
}

/** rome holds 10 of 16 CPU of paris for an hour. */
function holding(policy: Parameters<typeof openQueue>[0] = {}): World {
  const world = openQueue(policy);
  world.grant("rome", request({ cpu: 10, memoryGi: 1 }, { durationMs: HOUR_MS }), "holder");
  return world;
}

describe("the reason why a request waits", () => {
  test("is capacity where nobody has room", () => {
    const world = holding();
    queue(world, "oslo", "k", { cpu: 7 });
    expect(reasons(world)).toEqual([["k", "Capacity"]]);
  });

  test("is that no provider is large enough or suits it, however much is free", () => {
    const world = holding();
    queue(world, "oslo", "large", { cpu: 17 });
    queue(world, "oslo", "fits", { cpu: 16 });
    expect(reasons(world)).toEqual([
      ["fits", "Capacity"],
      ["large", "Unsatisfiable"],
    ]);
  });

  test.each([
    ["a cordon", (world: World) => world.run({ kind: "cordon", by: ADMIN, clusterId: "paris" })],
    ["silence", (world: World) => pass(world, 10 * MINUTE_MS, ["oslo"])],
  ])("is not the size, where %s keeps the only provider out for now", (_, close) => {
    const world = holding();
    world.advertise(cluster("oslo", { cpu: 0, memoryGi: 0 }));
    queue(world, "oslo", "k", { cpu: 16, forMs: 20 * HOUR_MS });
    close(world);
    expect(reasons(world)).toEqual([["k", "Capacity"]]);
  });

  test("does not depend on the tenants of other requests", () => {
    const tenants = {
      poor: {
        members: [{ cluster: "oslo", namespaces: ["poor"] }],
        weight: 1,
        quota: {},
        budget: { perDay: 0 },
      },
    };
    const world = holding({ tenants });
    queue(world, "oslo", "poor", { cpu: 16, namespace: "poor" });
    queue(world, "oslo", "other", { cpu: 16 });
    expect(reasons(world)).toEqual([
      ["other", "Capacity"],
      ["poor", "Capacity"],
    ]);
  });

  test("is the quota, whatever is free", () => {
    const world = holding({ quotas: { oslo: { reservations: 0 } } });
    queue(world, "oslo", "k", { cpu: 1 });
    expect(reasons(world)).toEqual([["k", "Quota"]]);
  });

  test("is the silence of the requester's agent", () => {
    const world = holding();
    world.advertise(cluster("oslo", { cpu: 0, memoryGi: 0 }));
    queue(world, "oslo", "k", { cpu: 7, forMs: 20 * HOUR_MS });
    world.now += 2 * world.policy.stalenessMs;
    world.advertise(cluster("paris"));
    expect(reasons(world)).toEqual([["k", "Capacity"]]);
    world.now += 1;
    expect(reasons(world)).toEqual([["k", "RequesterSilent"]]);
  });

  test("is that others come first, where what is free is planned for them", () => {
    const world = holding();
    queue(world, "oslo", "first", { cpu: 16, forMs: 5 * HOUR_MS });
    admit(world);
    queue(world, "oslo", "second", { cpu: 6, forMs: 5 * HOUR_MS });
    expect(reasons(world)).toEqual([
      ["first", "Capacity"],
      ["second", "Nomination"],
    ]);
    const [first, second] = places(world);
    expect(first).toMatchObject({ position: 1, of: 2, expectedStart: world.now + HOUR_MS + 5 * MINUTE_MS });
    expect(second).toMatchObject({ position: 2, of: 2 });
    expect(second?.expectedStart).toBeUndefined();
  });

  test("is the start, until somebody has looked", () => {
    const world = holding();
    queue(world, "oslo", "k", { cpu: 7 });
    world.advertise(cluster("berlin"));
    expect(reasons(world)).toEqual([["k", "Starting"]]);
  });
});

test("the provider that is kept for a request is named", () => {
  const world = openQueue();
  for (const name of ["berlin", "tokyo", "quito"]) world.advertise(cluster(name));
  for (const key of ["a", "b", "c", "d"]) world.grant("rome", request({ cpu: 4, memoryGi: 1 }), key);
  queue(world, "oslo", "big", { cpu: 15, forMs: 20 * HOUR_MS });
  admit(world);
  pass(world, 10 * MINUTE_MS);
  admit(world);
  const [place] = places(world);
  expect(place?.nominatedTo).toBe(place?.entry.nominated?.provider);
  expect(place?.nominatedTo).toBeDefined();
});

test("who waits beside an earmark is told that others come first, and the nominated one lacks capacity", () => {
  const world = openMarket();
  hold(world, "rome", "spot", { cpu: 10, tier: "spot" });
  pass(world, 15 * MINUTE_MS);
  queue(world, "oslo", "urgent", { cpu: 16, priority: 50, forMs: 5 * HOUR_MS });
  admit(world);
  queue(world, "oslo", "small", { cpu: 6, forMs: 5 * HOUR_MS, durationMs: MINUTE_MS });
  expect(reasons(world)).toEqual([
    ["urgent", "Capacity"],
    ["small", "Nomination"],
  ]);
  expect(places(world).map(({ nominatedTo }) => nominatedTo)).toEqual(["paris", undefined]);
  const why = { now: world.now, policy: world.policy, decisionId: "dec" };
  expect(explainWaiting(world.ledger, "rsv-oslo-small", why)?.refusedBy).toMatchObject({
    "kept-for-others": 1,
  });
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-spot" });
  expect(reasons(world)).toEqual([
    ["urgent", "Starting"],
    ["small", "Nomination"],
  ]);
});

test("only what is asked for is computed, and the place counts everybody", () => {
  const world = holding();
  for (const key of ["1", "2", "3"]) {
    world.now += 1;
    queue(world, "oslo", key, { cpu: 7 });
  }
  const moment = { now: world.now, policy: world.policy };
  const [third, ...more] = queuePlaces(world.ledger, moment, ({ key }) => key === "3");
  expect(third).toMatchObject({ entry: { key: "3" }, position: 3, of: 3, tenant: "oslo", share: 0 });
  expect(more).toEqual([]);
});

test("an explanation is what would be decided now; there is none for who does not wait", () => {
  const world = holding();
  queue(world, "oslo", "first", { cpu: 16, forMs: 5 * HOUR_MS });
  admit(world);
  queue(world, "oslo", "second", { cpu: 6, forMs: 5 * HOUR_MS });
  const explain = (id: string) =>
    explainWaiting(world.ledger, id, { now: world.now, policy: world.policy, decisionId: "dec" });
  expect(explain("rsv-oslo-first")?.refusedBy).toEqual({ capacity: 1 });
  expect(explain("rsv-oslo-second")?.refusedBy).toEqual({ "kept-for-others": 1 });
  expect(explain("rsv-rome-holder")).toBeUndefined();
});
