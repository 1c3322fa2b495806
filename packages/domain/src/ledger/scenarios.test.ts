import { describe, expect, test } from "vitest";
import { refusalsOf } from "../scheduling/decision.ts";
import { cluster, request, size } from "../testing/builders.ts";
import { actor, openWorld } from "../testing/world.ts";
import { VIRTUAL_NODE_TEARDOWN_MS } from "./account.ts";

test("a provider that shrinks keeps its reservations and is overcommitted by the difference", () => {
  const world = openWorld();
  world.advertise(cluster("paris"));
  const { id } = world.grant("rome", request({ cpu: 12 }));
  world.advertise(cluster("paris", { cpu: 10 }));
  expect(world.reservation(id).phase).toBe("Reserved");
  expect(world.account("paris").available.cpuMillis).toBe(0);
  expect(world.account("paris").overcommitted).toEqual(size({ cpu: 2 }));
  expect(world.reserve("berlin", request({ cpu: 1 })).kind).toBe("refused");
});

describe("what an older agent borrows", () => {
  test("is not lent on", () => {
    const world = openWorld();
    world.advertise(cluster("rome", { cpu: 1 }), cluster("paris"));
    world.grant("rome", request({ cpu: 4, memoryGi: 8 }));
    // It sees its virtual node as its own: 1 + 4 CPU.
    world.advertise(cluster("rome", { cpu: 5, memoryGi: 72, more: { protocol: 1 } }));
    expect(world.account("rome").available).toEqual(size({ cpu: 1, memoryGi: 64 }));
    expect(world.account("rome").withheld).toEqual(size({ cpu: 4, memoryGi: 8 }));
    // It takes the node down later, if it ever made one: the end itself makes nothing of it lendable.
    for (const id of world.ledger.reservations.keys()) world.run({ kind: "release", by: actor("rome"), id });
    expect(world.account("rome").available).toEqual(size({ cpu: 1, memoryGi: 64 }));
  });

  test("and has given back is its own again minutes later, and not a day", () => {
    const world = openWorld();
    const rome = cluster("rome", { cpu: 5, memoryGi: 72, more: { protocol: 1 } });
    world.advertise(rome, cluster("paris"));
    const { id } = world.grant("rome", request({ cpu: 4, memoryGi: 8 }));
    world.run({ kind: "release", by: actor("rome"), id });
    world.now += VIRTUAL_NODE_TEARDOWN_MS - 1;
    world.advertise(rome, cluster("paris"));
    expect(world.account("rome").available).toEqual(size({ cpu: 1, memoryGi: 64 }));
    world.now += 1;
    world.advertise(rome);
    expect(world.account("rome")).toMatchObject({
      withheld: size({}),
      available: size({ cpu: 5, memoryGi: 72 }),
    });
  });

  test("is named in a refusal as not counted", () => {
    const world = openWorld();
    world.advertise(cluster("rome", { cpu: 5, memoryGi: 72, more: { protocol: 1 } }), cluster("paris"));
    world.grant("rome", request({ cpu: 4, memoryGi: 8 }));
    const reply = world.reserve("oslo", { ...request({ cpu: 3 }), target: "rome" });
    if (reply.kind !== "refused") throw new Error("expected a refusal");
    const refusal = refusalsOf(reply.decision).find(({ clusterId }) => clusterId === "rome");
    expect(refusal).toMatchObject({
      clusterId: "rome",
      filter: "capacity",
      message: expect.stringContaining("4 CPU / 8Gi Memory reserved from other clusters are not counted"),
    });
  });
});
