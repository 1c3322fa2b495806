import { type ClusterAdvertisement, KUBE_LABEL, type Reservation } from "@resource-broker/contract/crd";
import { actor, HOUR_MS } from "@resource-broker/domain/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import { NAMESPACE } from "../testing/environment.ts";
import { expectViewsMatchLedger } from "./testing/expect-views-match-ledger.ts";
import {
  type SimNamespace,
  simPlace,
  type ViewsEnvironment,
  viewsEnvironment,
} from "./testing/views-environment.ts";

const ID = "rsv-rome-1";
const VIEW = { namespace: NAMESPACE, name: ID };
const CLUSTER = { namespace: NAMESPACE, name: "paris-adv" };
const AT = "2026-01-05T12:00:00Z";

let simNamespace: SimNamespace;
const worlds: ViewsEnvironment[] = [];
beforeEach(async () => {
  simNamespace = await simPlace();
});
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
  await simNamespace.end();
});

async function started(options: Parameters<typeof viewsEnvironment>[1] = {}): Promise<ViewsEnvironment> {
  const world = await viewsEnvironment(simNamespace, options);
  worlds.push(world);
  await world.start();
  return world;
}

/** Paris lends one CPU to rome, and both views are there. */
async function shown(options: Parameters<typeof viewsEnvironment>[1] = {}): Promise<ViewsEnvironment> {
  const world = await started(options);
  await world.advertise("paris");
  await world.reserve("rome", ID);
  await simNamespace.time.advance(3000);
  world.writes.length = 0;
  return world;
}

const editReservation = (world: ViewsEnvironment, body: object, isStatus = false) =>
  world.people.patch(
    RESERVATIONS,
    { name: VIEW, patch: { kind: "merge", body } },
    isStatus ? { subresource: "status" } : {},
  );
const editCluster = (world: ViewsEnvironment, body: object, isStatus = false) =>
  world.people.patch(
    CLUSTER_ADVERTISEMENTS,
    { name: CLUSTER, patch: { kind: "merge", body } },
    isStatus ? { subresource: "status" } : {},
  );

describe("views", () => {
  test("show each cluster and each reservation, soon after the ledger knows of them", async () => {
    const world = await shown();
    await expectViewsMatchLedger(world);
    expect(await world.reservation(ID)).toMatchObject({
      status: { phase: "Reserved", message: "Use paris for 1 CPU / 1Gi Memory" },
    });
    expect((await world.advertisement("paris"))?.spec.resources.reserved).toEqual({
      cpu: "1",
      memory: "1Gi",
    });
  });

  test("tell the policy's slice defaults", async () => {
    const sliceDefaults = { pods: 50, ephemeralStorage: "5Gi" };
    const world = await shown({ sliceDefaults });
    expect((await world.reservation(ID))?.status?.sliceDefaults).toEqual(sliceDefaults);
  });

  test("follow a reservation through its life, and go when the ledger forgets it", async () => {
    const world = await started();
    await world.advertise("paris");
    await world.reserve("rome", ID, { durationMs: 60_000 });
    await world.submit({ kind: "activate", by: actor("rome"), id: ID });
    await simNamespace.time.advance(1000);
    await expectViewsMatchLedger(world);
    await world.submit({ kind: "renew", by: actor("rome"), id: ID, durationMs: HOUR_MS });
    await simNamespace.time.advance(1000);
    await expectViewsMatchLedger(world);
    await simNamespace.time.advance(HOUR_MS + 2000);
    expect(await world.reservation(ID)).toMatchObject({ status: { phase: "Released", reason: "Expired" } });
    await expectViewsMatchLedger(world);
    await simNamespace.time.advance(25 * HOUR_MS);
    expect(world.engine.ledger.reservations.size).toBe(0);
    expect(await world.reservation(ID)).toBeUndefined();
  });

  test("go also when the ledger forgot while nobody could write, and the broker was restarted", async () => {
    const world = await shown();
    await world.release("rome", ID);
    await simNamespace.time.advance(1000);
    await world.stop();
    worlds.length = 0;
    await world.engine.stop();
    await simNamespace.time.advance(25 * HOUR_MS);
    const again = await started({ disk: world.disk });
    await simNamespace.time.advance(3000);
    expect(again.engine.ledger.reservations.size).toBe(0);
    expect(await again.reservation(ID)).toBeUndefined();
  });

  test("that somebody deletes come back, and the reservation is not released", async () => {
    const world = await shown();
    await world.people.delete(RESERVATIONS, VIEW);
    await world.people.delete(CLUSTER_ADVERTISEMENTS, CLUSTER);
    await simNamespace.time.advance(2000);
    await expectViewsMatchLedger(world);
    expect(world.engine.ledger.reservations.get(ID)?.phase).toBe("Reserved");
  });

  const edits: readonly { name: string; edit: (world: ViewsEnvironment) => Promise<unknown> }[] = [
    {
      name: "a label of a cluster is taken off",
      edit: (world) => editCluster(world, { metadata: { labels: { [KUBE_LABEL.view]: null } } }),
    },
    {
      name: "a label of a cluster is changed",
      edit: (world) => editCluster(world, { metadata: { labels: { [KUBE_LABEL.view]: "false" } } }),
    },
    {
      name: "a cluster's amounts are changed",
      edit: (world) =>
        editCluster(world, { spec: { resources: { reserved: { cpu: "0" }, available: { cpu: "99" } } } }),
    },
    {
      name: "a cluster gets a price",
      edit: (world) =>
        editCluster(world, { spec: { cost: { cpuCost: "1", memoryCost: "1", currency: "EUR" } } }),
    },
    {
      name: "a cluster's amounts are taken away",
      edit: (world) => editCluster(world, { spec: { resources: { reserved: null } } }),
    },
    {
      name: "a cluster is called stale",
      edit: (world) => editCluster(world, { status: { phase: "Stale", active: false } }, true),
    },
    {
      name: "a refusal is written into a cluster's status",
      edit: (world) =>
        editCluster(world, { status: { refused: { timestamp: AT, code: "x", message: "y" } } }, true),
    },
    {
      name: "a cluster's conditions are thrown away",
      edit: (world) => editCluster(world, { status: { conditions: [] } }, true),
    },
    {
      name: "the view label of a reservation is taken off",
      edit: (world) => editReservation(world, { metadata: { labels: { [KUBE_LABEL.view]: null } } }),
    },
    {
      name: "a reservation's party is renamed",
      edit: (world) => editReservation(world, { metadata: { labels: { [KUBE_LABEL.target]: "tokyo" } } }),
    },
    {
      name: "a reservation is replaced by one with a priority",
      edit: async (world) => {
        const found = (await world.reservation(ID)) as Reservation;
        await world.people.delete(RESERVATIONS, VIEW);
        await world.people.create(RESERVATIONS, {
          ...found,
          metadata: { ...VIEW, labels: found.metadata.labels ?? {} },
          spec: { ...found.spec, priority: 7, duration: "1h" },
        });
      },
    },
    {
      name: "a reservation is called released",
      edit: (world) => editReservation(world, { status: { phase: "Released", reason: "Expired" } }, true),
    },
    {
      name: "a reservation is called orphaned",
      edit: (world) =>
        editReservation(
          world,
          {
            status: {
              conditions: [
                { type: "Orphaned", status: "True", reason: "X", message: "y", lastTransitionTime: AT },
              ],
            },
          },
          true,
        ),
    },
    {
      name: "a reservation's status is thrown away",
      edit: (world) => editReservation(world, { status: null }, true),
    },
    {
      name: "a reservation is replaced by another one of its name",
      edit: async (world) => {
        const found = await world.reservation(ID);
        await world.people.delete(RESERVATIONS, VIEW);
        await world.people.create(RESERVATIONS, {
          ...(found as Reservation),
          metadata: { ...VIEW, labels: { [KUBE_LABEL.view]: "true" } },
          spec: { requesterID: "tokyo", requestedResources: { cpu: "9", memory: "9Gi" }, key: "k" },
        });
      },
    },
    {
      name: "a cluster is replaced by another one of its name",
      edit: async (world) => {
        const found = (await world.advertisement("paris")) as ClusterAdvertisement;
        await world.people.delete(CLUSTER_ADVERTISEMENTS, CLUSTER);
        await world.people.create(CLUSTER_ADVERTISEMENTS, {
          ...found,
          metadata: { ...CLUSTER, labels: { [KUBE_LABEL.view]: "true" } },
          spec: { ...found.spec, clusterID: "tokyo" },
        });
      },
    },
  ];
  test.each(edits)("are put right when $name", async ({ edit }) => {
    const world = await shown();
    await edit(world);
    await simNamespace.time.advance(3000);
    await expectViewsMatchLedger(world);
    expect(world.writes.length).toBeGreaterThan(0);
    expect(world.writes.length).toBeLessThan(12);
    expect(world.lines.filter((line) => line.startsWith("error"))).toEqual([]);
    world.writes.length = 0;
    await simNamespace.time.advance(10_000);
    expect(world.writes).toEqual([]);
  });

  test("leave alone what others have to say there", async () => {
    const world = await shown();
    const signal = {
      type: "RequesterActive",
      status: "True",
      reason: "Used",
      message: "m",
      lastTransitionTime: AT,
    };
    const found = await world.reservation(ID);
    await editReservation(world, {
      metadata: { labels: { team: "a" }, annotations: { "x.y/renew": "1h 1" } },
    });
    await editReservation(
      world,
      { status: { renewed: "1h 1", conditions: [...(found?.status?.conditions ?? []), signal] } },
      true,
    );
    const holds = [{ id: ID, granted: { cpu: "1", memory: "1Gi" } }];
    await editCluster(world, { status: { holds, epoch: 3, commit: 9 } }, true);
    await world.submit({ kind: "activate", by: actor("rome"), id: ID });
    await simNamespace.time.advance(3000);
    expect(await world.reservation(ID)).toMatchObject({
      metadata: { labels: { team: "a" }, annotations: { "x.y/renew": "1h 1" } },
      status: { phase: "Active", renewed: "1h 1", conditions: expect.arrayContaining([signal]) },
    });
    expect(await world.advertisement("paris")).toMatchObject({ status: { holds, epoch: 3, commit: 9 } });
  });

  test("of which the ledger knows nothing are marked, and stay", async () => {
    const world = await shown();
    const found = (await world.reservation(ID)) as Reservation;
    const name = "rsv-rome-unknown";
    const metadata = { ...VIEW, name, labels: found.metadata.labels ?? {} };
    await world.people.create(RESERVATIONS, { ...found, metadata });
    const cadv = (await world.advertisement("paris")) as ClusterAdvertisement;
    await world.people.create(CLUSTER_ADVERTISEMENTS, {
      ...cadv,
      metadata: { ...CLUSTER, name: "atlantis-adv", labels: { [KUBE_LABEL.view]: "true" } },
      spec: { ...cadv.spec, clusterID: "atlantis" },
    });
    await simNamespace.time.advance(60_000);
    expect(await world.reservation(name)).toMatchObject({
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Orphaned", status: "True" })]),
      },
    });
    expect(await world.advertisement("atlantis")).toMatchObject({
      status: { phase: "Stale", active: false },
    });
    expect(world.events.filter(({ reason }) => reason === "Orphaned")).toHaveLength(1);
  });

  test("of another ledger that has ended are orphans too, and stay", async () => {
    const world = await shown();
    await world.release("rome", ID);
    await simNamespace.time.advance(1000);
    await editReservation(world, { status: { ledgerID: "led-0" } }, true);
    await world.stop();
    worlds.length = 0;
    await started();
    await simNamespace.time.advance(5000);
    expect(await world.reservation(ID)).toMatchObject({
      status: {
        phase: "Released",
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Orphaned", status: "True" })]),
      },
    });
  });

  test("say when a cluster falls silent and when it is heard again, and tell an Event of it", async () => {
    const world = await shown();
    await simNamespace.time.advance(150_000);
    await expectViewsMatchLedger(world);
    expect(await world.advertisement("paris")).toMatchObject({ status: { phase: "Stale", active: false } });
    expect(world.events.map(({ reason }) => reason)).toContain("Stale");
    await world.advertise("paris");
    await simNamespace.time.advance(2000);
    await expectViewsMatchLedger(world);
    expect(await world.advertisement("paris")).toMatchObject({ status: { phase: "Active", active: true } });
  });

  test("are not written by a replica that has been replaced", async () => {
    const world = await shown();
    world.depose();
    await world.reserve("rome", "rsv-rome-2");
    await world.people.delete(RESERVATIONS, VIEW);
    await simNamespace.time.advance(10_000);
    expect(world.writes).toEqual([]);
  });

  test("are compared in full by the next broker, which writes only what is not right", async () => {
    const world = await shown();
    await world.stop();
    worlds.length = 0;
    await world.release("rome", ID);
    await world.reserve("rome", "rsv-rome-2", { cpu: 2 });
    await world.engine.stop();
    const again = await started({ disk: world.disk });
    await simNamespace.time.advance(5000);
    await expectViewsMatchLedger(again);
    expect(again.writes.map(({ verb, name }) => `${verb} ${name}`).toSorted()).toEqual([
      "apply paris-adv",
      "apply paris-adv",
      `apply ${ID}`,
      "apply rsv-rome-2",
      "create rsv-rome-2",
    ]);
  });

  test("show once and at leisure that a cluster said the same again, and at once what is new", async () => {
    const world = await shown();
    for (let round = 0; round < 12; round++) {
      await world.advertise("paris");
      await simNamespace.time.advance(10_000);
    }
    // Two minutes: each refresh is two writes.
    expect(world.writes.length).toBeGreaterThanOrEqual(4);
    expect(world.writes.length).toBeLessThanOrEqual(10);
    const updated = Date.parse((await world.advertisement("paris"))?.status?.lastUpdateTime ?? "");
    expect(simNamespace.time.wallMs() - updated).toBeLessThan(60_000);
    await world.advertise("paris", { labels: { tier: "gold" } });
    await simNamespace.time.advance(1500);
    expect((await world.advertisement("paris"))?.spec.labels).toEqual({ tier: "gold" });
  });
});
