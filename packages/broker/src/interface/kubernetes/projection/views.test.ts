import { Fault } from "@resource-broker/base";
import { type ClusterAdvertisement, KUBE_LABEL, type Reservation } from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { ADMIN, actor, HOUR_MS } from "@resource-broker/domain/testing";
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from "@resource-broker/kube";
import { sha256 } from "@resource-broker/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import {
  type BrokerParts,
  definitions,
  namespaceObject,
  openEnvironment,
  type TestBroker,
  type TestEnvironment,
} from "../testing/environment.ts";
import { expectViewsMatchLedger } from "../testing/expect-views-match-ledger.ts";
import { agentsReservation, NAMESPACE, named, personsReservation, publish } from "../testing/samples.ts";
import { assumeCache } from "./object-writer.ts";

const ID = "rsv-rome-1";
const AT = "2026-01-05T12:00:00Z";
const MOST_A_SECOND = 20;
const VIEWS = { objects: false, views: true };

let env: TestEnvironment;
beforeEach(async () => {
  env = await openEnvironment();
});
afterEach(() => env.stop());

/** Paris lends one CPU to rome, and both views are there. */
async function shown(parts: BrokerParts = {}): Promise<TestBroker> {
  const broker = await env.startBroker({ options: VIEWS, ...parts });
  await broker.advertise("paris");
  await broker.reserve("rome", ID);
  await env.time.advance(3000);
  broker.writes.length = 0;
  return broker;
}

const edit = (of: "cluster" | "reservation", body: object) => {
  const where = "status" in body ? ({ subresource: "status" } as const) : {};
  const patch = { kind: "merge", body } as const;
  return of === "cluster"
    ? env.client.patch(CLUSTER_ADVERTISEMENTS, { name: named("paris-adv"), patch }, where)
    : env.client.patch(RESERVATIONS, { name: named(ID), patch }, where);
};
const label = (name: string, value: string | null) => ({ metadata: { labels: { [name]: value } } });
const condition = (type: string) => ({
  type,
  status: "True",
  reason: "Said",
  message: "m",
  lastTransitionTime: AT,
});
const isOrphaned = expect.arrayContaining([expect.objectContaining({ type: "Orphaned", status: "True" })]);

describe("views", () => {
  test("follow a reservation through its life, and go when the ledger forgets it", async () => {
    const broker = await env.startBroker({ options: VIEWS });
    await broker.advertise("paris");
    await broker.reserve("rome", ID, { durationMs: 60_000 });
    await broker.engine.submit({ kind: "activate", by: actor("rome"), id: ID });
    await env.time.advance(1000);
    await expectViewsMatchLedger(env, broker);
    await env.time.advance(62_000);
    expect(await env.findReservation(ID)).toMatchObject({ status: { phase: "Released", reason: "Expired" } });
    await expectViewsMatchLedger(env, broker);
    await env.time.advance(25 * HOUR_MS);
    expect(broker.engine.ledger.reservations.size).toBe(0);
    expect(await env.findReservation(ID)).toBeUndefined();
  });

  test("go also when the ledger forgot while nobody could write, and the broker was restarted", async () => {
    const broker = await shown();
    await broker.release("rome", ID);
    await env.time.advance(1000);
    await broker.stop();
    await env.time.advance(25 * HOUR_MS);
    const again = await env.startBroker({ options: VIEWS, disk: broker.disk });
    await env.time.advance(3000);
    expect(again.engine.ledger.reservations.size).toBe(0);
    expect(await env.findReservation(ID)).toBeUndefined();
  });

  const price = { cpuCost: "1", memoryCost: "1", currency: "EUR" };
  /** Somebody deletes a view and puts another object of its name there. */
  const replaceReservation = async () => {
    const found = (await env.findReservation(ID)) as Reservation;
    await env.remove(ID);
    const metadata = { ...named(ID), labels: { [KUBE_LABEL.view]: "true" } };
    const spec = { requesterID: "tokyo", requestedResources: { cpu: "9", memory: "9Gi" }, key: "k" };
    await env.create({ ...found, metadata, spec });
  };
  const replaceCluster = async () => {
    const found = (await env.findAdvertisement("paris")) as ClusterAdvertisement;
    await env.client.delete(CLUSTER_ADVERTISEMENTS, named("paris-adv"));
    const metadata = { ...named("paris-adv"), labels: { [KUBE_LABEL.view]: "true" } };
    const spec = { ...found.spec, clusterID: "tokyo" };
    await env.client.create(CLUSTER_ADVERTISEMENTS, { ...found, metadata, spec });
  };
  const edits: readonly (readonly [name: string, act: () => Promise<unknown>])[] = [
    ["a cluster is deleted", () => env.client.delete(CLUSTER_ADVERTISEMENTS, named("paris-adv"))],
    ["a label of a cluster is taken off", () => edit("cluster", label(KUBE_LABEL.view, null))],
    ["a label of a cluster is changed", () => edit("cluster", label(KUBE_LABEL.view, "false"))],
    ["its amounts are changed", () => edit("cluster", { spec: { resources: { available: { cpu: "99" } } } })],
    ["its amounts are taken away", () => edit("cluster", { spec: { resources: { reserved: null } } })],
    ["a cluster gets a price", () => edit("cluster", { spec: { cost: price } })],
    ["a cluster is called stale", () => edit("cluster", { status: { phase: "Stale", active: false } })],
    [
      "a cluster is refused",
      () => edit("cluster", { status: { refused: { timestamp: AT, code: "x", message: "y" } } }),
    ],
    ["its conditions are thrown away", () => edit("cluster", { status: { conditions: [] } })],
    ["a cluster is replaced by another one of its name", replaceCluster],
    ["a reservation is deleted", () => env.remove(ID)],
    ["the label of a reservation is taken off", () => edit("reservation", label(KUBE_LABEL.view, null))],
    ["a reservation's party is renamed", () => edit("reservation", label(KUBE_LABEL.target, "tokyo"))],
    [
      "it is called released",
      () => edit("reservation", { status: { phase: "Released", reason: "Expired" } }),
    ],
    ["it is called orphaned", () => edit("reservation", { status: { conditions: [condition("Orphaned")] } })],
    ["its status is thrown away", () => edit("reservation", { status: null })],
    ["a reservation is replaced by another one of its name", replaceReservation],
  ];
  test.each(edits)("are put right when %s, by few writes and then none", async (_, act) => {
    const broker = await shown();
    await act();
    await env.time.advance(3000);
    await expectViewsMatchLedger(env, broker);
    expect(broker.engine.ledger.reservations.get(ID)?.phase).toBe("Reserved");
    expect(broker.writes.length).toBeGreaterThan(0);
    expect(broker.writes.length).toBeLessThan(12);
    expect(env.logged.filter((line) => line.startsWith("error"))).toEqual([]);
    broker.writes.length = 0;
    await env.time.advance(10_000);
    expect(broker.writes).toEqual([]);
  });

  test("leave alone what others have to say there", async () => {
    const broker = await shown();
    const signal = condition("RequesterActive");
    const { conditions = [] } = (await env.findReservation(ID))?.status ?? {};
    const others = { metadata: { labels: { team: "a" }, annotations: { "x.y/renew": "1h 1" } } };
    await edit("reservation", others);
    await edit("reservation", { status: { renewed: "1h 1", conditions: [...conditions, signal] } });
    const holds = [{ id: ID, granted: { cpu: "1", memory: "1Gi" } }];
    await edit("cluster", { status: { holds, epoch: 3, commit: 9 } });
    await broker.engine.submit({ kind: "activate", by: actor("rome"), id: ID });
    await env.time.advance(3000);
    expect(await env.findReservation(ID)).toMatchObject({
      ...others,
      status: { phase: "Active", renewed: "1h 1", conditions: expect.arrayContaining([signal]) },
    });
    expect(await env.findAdvertisement("paris")).toMatchObject({ status: { holds, epoch: 3, commit: 9 } });
  });

  test("of which the ledger knows nothing are marked, and stay; those of another ledger, too", async () => {
    const broker = await shown();
    const found = (await env.findReservation(ID)) as Reservation;
    const labels = { [KUBE_LABEL.view]: "true" };
    await env.create({ ...found, metadata: { ...named("rsv-rome-unknown"), labels } });
    const cluster = (await env.findAdvertisement("paris")) as ClusterAdvertisement;
    await env.client.create(CLUSTER_ADVERTISEMENTS, {
      ...cluster,
      metadata: { ...named("atlantis-adv"), labels },
      spec: { ...cluster.spec, clusterID: "atlantis" },
    });
    await env.time.advance(60_000);
    expect(await env.findReservation("rsv-rome-unknown")).toMatchObject({
      status: { conditions: isOrphaned },
    });
    const atlantis = { status: { phase: "Stale", active: false } };
    expect(await env.findAdvertisement("atlantis")).toMatchObject(atlantis);
    await broker.release("rome", ID);
    await env.time.advance(1000);
    await broker.stop();
    await env.startBroker({ options: VIEWS });
    await env.time.advance(5000);
    const status = { phase: "Released", conditions: isOrphaned };
    expect(await env.findReservation(ID)).toMatchObject({ status });
  });

  test("say when a cluster falls silent and when it is heard again, and tell an Event of it", async () => {
    const broker = await shown();
    await env.time.advance(150_000);
    await expectViewsMatchLedger(env, broker);
    expect((await env.eventsOf("paris-adv")).map(({ reason }) => reason)).toContain("Stale");
    await broker.advertise("paris");
    await env.time.advance(2000);
    await expectViewsMatchLedger(env, broker);
  });

  test("say that a cluster is cordoned before it advertises again", async () => {
    const broker = await shown();
    await broker.engine.submit({ kind: "cordon", by: ADMIN, clusterId: "paris", why: "upgrade" });
    await env.time.advance(1500);
    const { conditions } = (await env.findAdvertisement("paris"))?.status ?? {};
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Ready", reason: "Cordoned" }));
    await expectViewsMatchLedger(env, broker);
  });

  test("say that a cluster was evicted", async () => {
    const broker = await shown();
    await broker.engine.submit({ kind: "evict", by: ADMIN, clusterId: "paris" });
    await env.time.advance(1500);
    const { conditions } = (await env.findAdvertisement("paris"))?.status ?? {};
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Ready", reason: "Evicted" }));
    await expectViewsMatchLedger(env, broker);
  });

  test("are not written by a replica that has been replaced", async () => {
    let isLeading = true;
    const broker = await shown({ isLeading: () => isLeading });
    isLeading = false;
    await broker.reserve("rome", "rsv-rome-2");
    await env.remove(ID);
    await env.time.advance(10_000);
    expect(broker.writes).toEqual([]);
  });

  test("are compared in full by the next broker, which writes only what is not right", async () => {
    const broker = await shown();
    broker.goDown();
    await broker.release("rome", ID);
    await broker.reserve("rome", "rsv-rome-2", { cpu: 2 });
    await broker.stop();
    const again = await env.startBroker({ options: VIEWS, disk: broker.disk });
    await env.time.advance(5000);
    await expectViewsMatchLedger(env, again);
    const names = again.writes.map(({ verb, name }) => `${verb} ${name}`).toSorted();
    const cluster = ["apply paris-adv", "apply paris-adv"];
    expect(names).toEqual([...cluster, `apply ${ID}`, "apply rsv-rome-2", "create rsv-rome-2"]);
  });

  test("show once and at leisure that a cluster said the same again, and at once what is new", async () => {
    const broker = await shown();
    for (let round = 0; round < 12; round++) {
      await broker.advertise("paris");
      await env.time.advance(10_000);
    }
    // Two minutes: each refresh is two writes.
    expect(broker.writes.length).toBeGreaterThanOrEqual(4);
    expect(broker.writes.length).toBeLessThanOrEqual(10);
    await broker.advertise("paris", { labels: { tier: "gold" } });
    await env.time.advance(1500);
    expect((await env.findAdvertisement("paris"))?.spec.labels).toEqual({ tier: "gold" });
  });
});

test.each([
  { known: "9", written: "10", newest: "10" },
  { known: "10", written: "9", newest: "10" },
])("of version $known by the watch and $written by an own write, $newest is the newer", (each) => {
  const object = (resourceVersion: string) => ({ metadata: { ...named(ID), uid: "u", resourceVersion } });
  const known = new Map([[`${NAMESPACE}/${ID}`, object(each.known)]]);
  const cache = assumeCache(
    {
      get: (key) => known.get(key),
      keys: () => known.keys(),
      values: () => known.values(),
      size: () => known.size,
      synced: () => true,
      listen: () => () => undefined,
    },
    (own) => own,
  );
  cache.assume(object(each.written));
  expect(cache.get(`${NAMESPACE}/${ID}`)).toEqual(object(each.newest));
});

async function filled(clusters: number, reservations: number): Promise<TestBroker> {
  const broker = await env.startBroker({ options: VIEWS });
  for (let each = 0; each < clusters; each++) await broker.advertise(`c${each}`);
  for (let each = 0; each < reservations; each++) await broker.reserve("rome", `rsv-rome-${each}`);
  return broker;
}

describe("many changes and disasters", () => {
  test("at most twenty views are written a second, and no kind waits for the other", async () => {
    const { writes, ...broker } = await filled(40, 100);
    await env.time.advance(3000);
    const countOf = (wanted: string) => writes.filter(({ plural }) => plural === wanted).length;
    expect(countOf("clusteradvertisements")).toBeGreaterThan(15);
    expect(countOf("reservations")).toBeGreaterThan(15);
    await env.time.advance(20_000);
    await expectViewsMatchLedger(env, { writes, ...broker });
    const within = (from: number) => writes.filter(({ atMs }) => atMs >= from && atMs < from + 1000).length;
    expect(Math.max(...writes.map(({ atMs }) => within(atMs)))).toBeLessThanOrEqual(MOST_A_SECOND);
    // Two for each object, and some clusters twice because reservations came in between.
    expect(writes.length).toBeLessThanOrEqual(2 * (40 + 100) + 40);
  });

  test("a server that is away is complained of once for each kind, and gets the newest state only", async () => {
    const broker = await filled(5, 20);
    await env.time.advance(10_000);
    const up = broker.goDown();
    for (let each = 0; each < 20; each++) {
      await broker.engine.submit({ kind: "activate", by: actor("rome"), id: `rsv-rome-${each}` });
      await broker.release("rome", `rsv-rome-${each}`);
    }
    await env.time.advance(600_000);
    expect(env.logged.filter((line) => line.includes("showing"))).toHaveLength(2);
    expect(broker.engine.health.state).toBe("ready");
    broker.writes.length = 0;
    up();
    await env.time.advance(60_000);
    await expectViewsMatchLedger(env, broker);
    expect(broker.writes.filter(({ name }) => name === "rsv-rome-0")).toHaveLength(1);
    expect(env.logged.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  test("a request to slow down, or a bug of the server, loses nothing", async () => {
    const broker = await env.startBroker({ options: VIEWS });
    const slow = new Fault("rate-limited", "slower", { details: { retryAfterMs: 3000 } });
    for (const fault of [slow, new Fault("internal", "oops")])
      broker.failNext({ fault, isDone: false }, { fault, isDone: false });
    await broker.advertise("paris");
    await broker.reserve("rome", ID);
    await env.time.advance(30_000);
    await expectViewsMatchLedger(env, broker);
  });

  test.each([
    {
      name: "namespace",
      destroy: () => env.client.delete(NAMESPACES, { name: NAMESPACE }),
      back: () => [namespaceObject()],
    },
    {
      name: "definition",
      destroy: async () => {
        for (const plural of ["reservations", "clusteradvertisements"])
          await env.client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: `${plural}.broker.fluidos.eu` });
      },
      back: definitions,
    },
  ])("deleting the $name frees nothing, and the views come back with it", async ({ destroy, back }) => {
    const broker = await shown();
    await destroy();
    await env.time.advance(120_000);
    expect(broker.engine.ledger.reservations.get(ID)?.phase).toBe("Reserved");
    env.cluster.seed(back());
    await env.time.advance(60_000);
    await expectViewsMatchLedger(env, broker);
  });
});

describe("what agents and people write beside the views", () => {
  const HTTP = { instance: "http", sequence: 9 };
  const labelOf = async () => (await env.findAdvertisement("paris"))?.metadata.labels?.[KUBE_LABEL.view];
  const both = () => env.startBroker({ options: { objects: true, views: true } });

  test("a cluster that moves from HTTP to Kubernetes takes its object over, and back again", async () => {
    const broker = await both();
    await broker.advertise("paris", { ...HTTP, labels: { old: "yes" } });
    await env.time.advance(2000);
    expect(await labelOf()).toBe("true");
    await publish(env.client, "paris", { instance: "k8s" });
    await env.time.advance(5000);
    broker.writes.length = 0;
    const taken = await env.findAdvertisement("paris");
    expect(taken?.metadata.labels ?? {}).toEqual({});
    expect(taken?.spec.labels).toBeUndefined();
    expect(taken?.status?.accepted).toMatchObject({ instance: "k8s", sequence: 1 });
    await env.time.advance(60_000);
    expect(broker.writes).toEqual([]);
    await broker.advertise("paris", { ...HTTP, instance: "http-2" });
    await env.time.advance(2000);
    await expectViewsMatchLedger(env, broker);
  });

  test.each([
    {
      name: "what it says",
      act: (broker: TestBroker) =>
        broker.advertise("paris", { ...HTTP, sequence: 10, labels: { new: "yes" } }),
    },
    { name: "what it lends", act: (broker: TestBroker) => broker.reserve("rome", ID) },
  ])("is not overwritten when it comes while $name is being shown", async ({ act }) => {
    const broker = await both();
    await broker.advertise("paris", HTTP);
    await env.time.advance(2000);
    broker.writes.length = 0;
    broker.interrupt(() => publish(env.client, "paris", { instance: "k8s" }));
    await act(broker);
    await env.time.advance(3000);
    expect(broker.writes.length).toBeGreaterThan(0);
    expect((await env.findAdvertisement("paris"))?.spec).toMatchObject({ instance: "k8s" });
    expect(await labelOf()).toBeUndefined();
  });

  test("a reservation gets no view while an object asks for it, and one when that is gone", async () => {
    const broker = await both();
    await broker.advertise("paris");
    const agents = agentsReservation("k1");
    await env.create(agents);
    const asked = await env.create(personsReservation("mine"));
    const id = reservationNameFor("rome", asked.metadata.uid ?? "", sha256);
    const { metadata } = await env.inPhase(agents.metadata.name, "Reserved");
    expect(metadata.labels?.[KUBE_LABEL.view]).toBeUndefined();
    await env.time.advance(3000);
    expect(await env.findReservation(id)).toBeUndefined();
    await env.remove("mine");
    await env.time.advance(3000);
    expect(await env.findReservation(id)).toMatchObject({ status: { phase: "Released" } });
  });

  test("an object that a person labels as a view becomes one; what held it back is let go", async () => {
    const broker = await both();
    await broker.advertise("paris");
    const { metadata, ...rest } = agentsReservation("k1");
    const labels = { [KUBE_LABEL.view]: "true" };
    const finalizers = ["reservation.broker.fluidos.eu/finalizer"];
    await env.create({ ...rest, metadata: { ...metadata, labels, finalizers } });
    await broker.reserve("rome", metadata.name);
    await env.time.advance(5000);
    await expectViewsMatchLedger(env, broker);
  });
});
