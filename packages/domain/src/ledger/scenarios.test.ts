import { describe, expect, test } from "vitest";
import { refusalsOf } from "../scheduling/decision.ts";
import { explain } from "../scheduling/explain.ts";
import { cluster, priced, request, size } from "../testing/builders.ts";
import { actor, HOUR_MS, MINUTE_MS, openWorld } from "../testing/world.ts";
import { VIRTUAL_NODE_TEARDOWN_MS } from "./account.ts";

describe("who lends", () => {
  test("rome is never its own provider", () => {
    const world = openWorld();
    world.advertise(
      cluster("rome", { cpu: 1000, memoryGi: 1000 }),
      cluster("paris", { cpu: 5, memoryGi: 9 }),
    );
    expect(world.grant("rome", request()).provider).toBe("paris");
    expect(refusalsOf(world.refusal("rome", request()))).toContainEqual(
      expect.objectContaining({ clusterId: "rome", filter: "self" }),
    );
  });

  test("70/30: the cheaper of two equal clusters wins", () => {
    const world = openWorld();
    world.advertise(
      cluster("berlin", { more: { cost: priced(0.04) } }),
      cluster("paris", { more: { cost: priced(0.03) } }),
    );
    expect(world.grant("rome", request()).provider).toBe("paris");
  });

  test("70/30: far more headroom beats a small price difference", () => {
    const world = openWorld();
    world.advertise(
      cluster("berlin", { cpu: 64, memoryGi: 256, more: { cost: priced(0.031) } }),
      cluster("paris", { cpu: 5, memoryGi: 9, more: { cost: priced(0.03) } }),
    );
    expect(world.grant("rome", request()).provider).toBe("berlin");
  });

  test("without prices the most headroom wins", () => {
    const world = openWorld();
    world.advertise(
      cluster("paris", { cpu: 16 }),
      cluster("berlin", { cpu: 32 }),
      cluster("tokyo", { cpu: 8 }),
    );
    expect(world.grant("rome", request()).provider).toBe("berlin");
  });

  test("a GPU request skips clusters without GPUs", () => {
    const world = openWorld();
    world.advertise(cluster("paris", { cpu: 100, memoryGi: 400 }), cluster("tokyo", { gpu: 2 }));
    const reservation = world.grant("rome", request({ gpu: 2 }));
    expect(reservation.provider).toBe("tokyo");
    expect(reservation.granted.gpus).toBe(2);
    expect(refusalsOf(world.refusal("rome", request({ gpu: 1 })))).toEqual([
      expect.objectContaining({ clusterId: "paris", filter: "capacity", message: "offers no GPU" }),
      expect.objectContaining({ clusterId: "tokyo", filter: "capacity", message: "needs 1 more GPU" }),
    ]);
  });

  test("a stale cluster is refused with its age", () => {
    const world = openWorld();
    world.advertise(cluster("tokyo"));
    world.now += 4 * MINUTE_MS;
    const decision = world.refusal("rome", request());
    expect(refusalsOf(decision)[0]).toMatchObject({ clusterId: "tokyo", filter: "stale" });
    expect(explain(decision)).toContain("tokyo  advertisement 4m old");
  });

  test("100 CPU and 500Gi everywhere is refused with one reason per cluster", () => {
    const world = openWorld();
    world.advertise(cluster("rome"), cluster("paris"), cluster("berlin"), cluster("tokyo"));
    const refusals = refusalsOf(world.refusal("rome", request({ cpu: 100, memoryGi: 500 })));
    expect(refusals.map(({ clusterId, message }) => `${clusterId}: ${message}`)).toEqual([
      "berlin: needs 84 more CPU and 436Gi more Memory",
      "paris: needs 84 more CPU and 436Gi more Memory",
      "rome: is the requester itself",
      "tokyo: needs 84 more CPU and 436Gi more Memory",
    ]);
    expect(world.ledger.reservations.size).toBe(0);
  });
});

describe("what is lent", () => {
  test("two requests cannot both take the last core", () => {
    const world = openWorld();
    world.advertise(cluster("paris", { cpu: 5, allocated: { cpu: 4 } }));
    expect(world.reserve("rome", request({ cpu: 1, memoryGi: 1 })).kind).toBe("granted");
    expect(world.reserve("berlin", request({ cpu: 1, memoryGi: 1 })).kind).toBe("refused");
    expect(world.account("paris").available.cpuMillis).toBe(0);
  });

  test("an advertisement computed before a grant but received after it changes nothing", () => {
    const world = openWorld();
    const computedBefore = cluster("paris", { cpu: 5 });
    world.advertise(computedBefore);
    world.grant("rome", request({ cpu: 5 }));
    world.advertise(computedBefore);
    expect(world.account("paris").available.cpuMillis).toBe(0);
  });

  test("a retry returns the first reservation", () => {
    const world = openWorld();
    world.advertise(cluster("paris"), cluster("berlin"));
    const first = world.grant("rome", request(), "uid-1/1");
    const again = world.reserve("rome", request(), "uid-1/1");
    expect(again).toEqual({ kind: "current", reservation: first, isReplay: true });
    expect(world.ledger.reservations.size).toBe(1);
  });

  test("release gives back exactly what was held, once", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const kept = world.grant("berlin", request({ cpu: 3 }));
    const before = world.account("paris").available;
    const { id } = world.grant("rome", request());
    for (let attempt = 0; attempt < 3; attempt++) {
      const reply = world.reply({ kind: "release", by: actor("rome"), id });
      expect(reply).toMatchObject({ kind: "current", reservation: { phase: "Released" } });
      expect(world.account("paris").available).toEqual(before);
    }
    expect(world.account("paris").reserved).toEqual(kept.granted);
  });

  test("capacity of an ended reservation returns when its pods are gone", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const { id } = world.grant("rome", request({ cpu: 4 }));
    const holding = (cpu: number) =>
      cluster("paris", { usage: [{ id, granted: { cpu: 4, memoryGi: 8 }, used: { cpu } }] });
    world.advertise(holding(3));
    world.run({ kind: "release", by: actor("rome"), id });
    expect(world.account("paris").available.cpuMillis).toBe(13_000);
    world.advertise(holding(1));
    expect(world.account("paris").available.cpuMillis).toBe(15_000);
    world.advertise(cluster("paris"));
    expect(world.account("paris").available.cpuMillis).toBe(16_000);
  });

  test("a hold the ledger has forgotten is never lent", () => {
    const world = openWorld();
    world.advertise(
      cluster("paris", { usage: [{ id: "rsv-lost", granted: { cpu: 10 }, used: { cpu: 2 } }] }),
    );
    expect(world.account("paris").available.cpuMillis).toBe(6000);
  });

  test("a reservation whose pods use more than granted counts with what they use", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const { id } = world.grant("rome", request({ cpu: 4 }));
    world.advertise(cluster("paris", { usage: [{ id, granted: { cpu: 4 }, used: { cpu: 9 } }] }));
    expect(world.account("paris").available.cpuMillis).toBe(7000);
  });

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

  test("what an older agent borrows is not lent on", () => {
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

  test("what an older agent has given back is its own again minutes later, and not a day", () => {
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

  test("a refusal says what of an older agent's cluster is not counted, and why", () => {
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

describe("what money has to say", () => {
  test("a free cluster makes every paid one worthless, an unpriced one gets the median", () => {
    const world = openWorld({ weights: { resources: 0, cost: 1 } });
    world.advertise(
      cluster("free", { more: { cost: priced(0) } }),
      cluster("paid", { more: { cost: priced(0.1) } }),
      cluster("unsaid"),
    );
    const reply = world.reserve("rome", request());
    if (reply.kind !== "granted") throw new Error("expected a grant");
    const costs = reply.decision.candidates.map(({ clusterId, outcome }) => [
      clusterId,
      outcome.kind === "scored" ? outcome.parts["cost"] : undefined,
    ]);
    expect(costs).toEqual([
      ["free", 1],
      ["unsaid", 0.5],
      ["paid", 0],
    ]);
  });

  test("a reservation costs price times amount times duration", () => {
    const world = openWorld();
    world.advertise(
      cluster("paris", { more: { cost: { currency: "EUR", onDemand: { cpuHour: 0.5, memoryGbHour: 0 } } } }),
    );
    expect(world.grant("rome", request({ cpu: 4 }, { durationMs: 3 * HOUR_MS })).cost).toEqual({
      currency: "EUR",
      perHour: 2,
      total: 6,
    });
  });
});
