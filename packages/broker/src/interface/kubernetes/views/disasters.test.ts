import { Fault } from "@resource-broker/base";
import { actor } from "@resource-broker/domain/testing";
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from "@resource-broker/kube";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { definitions, NAMESPACE, namespaceObject } from "../testing/environment.ts";
import { expectViewsMatchLedger } from "./testing/expect-views-match-ledger.ts";
import {
  type SimNamespace,
  simPlace,
  type ViewsEnvironment,
  viewsEnvironment,
} from "./testing/views-environment.ts";

const MOST_A_SECOND = 20;

let simNamespace: SimNamespace;
let world: ViewsEnvironment;
beforeEach(async () => {
  simNamespace = await simPlace();
  world = await viewsEnvironment(simNamespace);
  await world.start();
});
afterEach(async () => {
  await world.stop();
  await simNamespace.end();
});

function mostInASecond(): number {
  const times = world.writes.map(({ atMs }) => atMs);
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
}

async function fill(clusters: number, reservations: number): Promise<void> {
  for (let each = 0; each < clusters; each++) await world.advertise(`c${each}`);
  for (let each = 0; each < reservations; each++) await world.reserve("rome", `rsv-rome-${each}`);
}

describe("many changes at once", () => {
  test("are written at most twenty a second, and no kind waits for the other", async () => {
    await fill(40, 100);
    await simNamespace.time.advance(3000);
    const soFar = world.writes.map(({ plural }) => plural);
    expect(soFar.filter((plural) => plural === "clusteradvertisements").length).toBeGreaterThan(15);
    expect(soFar.filter((plural) => plural === "reservations").length).toBeGreaterThan(15);
    await simNamespace.time.advance(20_000);
    await expectViewsMatchLedger(world);
    expect(mostInASecond()).toBeLessThanOrEqual(MOST_A_SECOND);
    // Two for each object, and some clusters twice because reservations came in between.
    expect(world.writes.length).toBeLessThanOrEqual(2 * (40 + 100) + 40);
  });

  test("of one object are one write, the newest", async () => {
    await fill(1, 1);
    await simNamespace.time.advance(2000);
    const up = world.goDown();
    await world.submit({ kind: "activate", by: actor("rome"), id: "rsv-rome-0" });
    for (let step = 0; step < 50; step++) {
      await world.advertise("c0", { labels: { step: String(step) } });
      await simNamespace.time.advance(100);
    }
    await world.release("rome", "rsv-rome-0");
    world.writes.length = 0;
    up();
    await simNamespace.time.advance(30_000);
    await expectViewsMatchLedger(world);
    expect(world.writes.filter(({ name }) => name === "rsv-rome-0")).toHaveLength(1);
    // What it says, what is computed, and the status; at most twice, because the release may come in between.
    expect(world.writes.filter(({ name }) => name === "c0-adv").length).toBeLessThanOrEqual(6);
  });
});

describe("an API server that is away", () => {
  test("is tried seldom, is complained of once, and gets everything when it is back", async () => {
    await fill(5, 20);
    await simNamespace.time.advance(10_000);
    world.lines.length = 0;
    world.writes.length = 0;
    let tries = 0;
    const { apply } = world.client;
    Object.assign(world.client, {
      apply: (...args: Parameters<typeof apply>) => {
        tries++;
        return apply(...args);
      },
    });
    const up = world.goDown();
    for (let each = 20; each < 60; each++) await world.reserve("rome", `rsv-rome-${each}`);
    for (let each = 0; each < 20; each++) await world.release("rome", `rsv-rome-${each}`);
    await simNamespace.time.advance(600_000);
    expect(tries).toBeLessThan(400);
    expect(world.lines.filter((line) => line.includes("showing"))).toHaveLength(2);
    expect(world.engine.health.state).toBe("ready");
    up();
    await simNamespace.time.advance(60_000);
    await expectViewsMatchLedger(world);
    expect(world.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  const faults = [
    { name: "a conflict", fault: new Fault("conflict", "somebody was faster"), isDone: false },
    { name: "an answer that is lost", fault: new Fault("unreachable", "reset"), isDone: true },
    {
      name: "a request to slow down",
      fault: new Fault("rate-limited", "slower", { details: { retryAfterMs: 3000 } }),
      isDone: false,
    },
    { name: "a bug of the server", fault: new Fault("internal", "oops"), isDone: false },
  ];
  test.each(faults)("loses nothing by $name", async (fault) => {
    world.failNext(fault, fault, fault, fault);
    await fill(3, 5);
    await simNamespace.time.advance(30_000);
    await expectViewsMatchLedger(world);
  });
});

describe("what is deleted as a whole", () => {
  test("a namespace frees nothing, and its views come back when it does", async () => {
    await fill(2, 3);
    await simNamespace.time.advance(3000);
    await world.people.delete(NAMESPACES, { name: NAMESPACE });
    await simNamespace.time.advance(120_000);
    expect(await world.reservation("rsv-rome-0").catch(() => undefined)).toBeUndefined();
    expect([...world.engine.ledger.reservations.values()].map(({ phase }) => phase)).toEqual([
      "Reserved",
      "Reserved",
      "Reserved",
    ]);
    simNamespace.sim.seed([namespaceObject()]);
    await simNamespace.time.advance(60_000);
    await expectViewsMatchLedger(world);
    expect(world.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  test("definitions free nothing, and their views come back when they do", async () => {
    await fill(2, 3);
    await simNamespace.time.advance(3000);
    for (const definition of definitions()) {
      const { name } = definition["metadata"] as { readonly name: string };
      await world.people.delete(CUSTOM_RESOURCE_DEFINITIONS, { name });
    }
    await simNamespace.time.advance(120_000);
    expect(world.engine.ledger.reservations.size).toBe(3);
    expect(world.engine.ledger.reservations.get("rsv-rome-0")?.phase).toBe("Reserved");
    simNamespace.sim.seed(definitions());
    await simNamespace.time.advance(60_000);
    await expectViewsMatchLedger(world);
  });
});
