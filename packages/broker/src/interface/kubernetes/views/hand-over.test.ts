import { formatTime } from "@resource-broker/base";
import { toQuantities } from "@resource-broker/contract";
import { type ClusterAdvertisement, KUBE_LABEL } from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { size } from "@resource-broker/domain/testing";
import { sha256 } from "@resource-broker/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import { FIELD_MANAGER } from "../ports.ts";
import { NAMESPACE } from "../testing/environment.ts";
import { expectViewsMatchLedger } from "./testing/expect-views-match-ledger.ts";
import {
  type SimNamespace,
  simPlace,
  type ViewsEnvironment,
  viewsEnvironment,
} from "./testing/views-environment.ts";

const CLUSTER = { namespace: NAMESPACE, name: "paris-adv" };
const AGENT = "resource-broker-agent";
const HTTP = { instance: "http" };
const KIND = { apiVersion: "broker.fluidos.eu/v1alpha1", kind: "Reservation" };

let simNamespace: SimNamespace;
let world: ViewsEnvironment;
beforeEach(async () => {
  simNamespace = await simPlace();
  world = await viewsEnvironment(simNamespace, { objects: true });
  await world.start();
});
afterEach(async () => {
  await world.stop();
  await simNamespace.end();
});

function spoken(sequence: number): Partial<ClusterAdvertisement> {
  const [capacity, allocated] = [toQuantities(size({ cpu: 8, memoryGi: 32 })), toQuantities(size({}))];
  return {
    metadata: CLUSTER,
    spec: {
      clusterID: "paris",
      resources: { capacity, allocatable: capacity, allocated },
      timestamp: formatTime(simNamespace.time.wallMs()),
      instance: "k8s",
      sequence,
    },
  };
}

/** As the agent's transport does it. */
const speak = (sequence: number) =>
  world.people.apply(CLUSTER_ADVERTISEMENTS, spoken(sequence), { fieldManager: AGENT, force: true });

/** As the part of the broker does it that listens to agents' objects: takes it in, and says so. */
async function answer(sequence: number): Promise<void> {
  const object = await world.advertisement("paris");
  const timestamp = object?.spec.timestamp ?? "";
  const statedAt = Date.parse(timestamp);
  await world.advertise("paris", { statedAt, instance: "k8s", sequence, labels: {} });
  const at = formatTime(world.engine.now());
  const accepted = { timestamp, instance: "k8s", sequence, at };
  await world.people.apply(
    CLUSTER_ADVERTISEMENTS,
    { metadata: CLUSTER, status: { accepted, ledgerID: "led-1" } },
    { fieldManager: FIELD_MANAGER, force: true, subresource: "status" },
  );
}

const labelOf = async (): Promise<string | undefined> =>
  (await world.advertisement("paris"))?.metadata.labels?.[KUBE_LABEL.view];

describe("a cluster that moves from HTTP to Kubernetes", () => {
  test("takes the object over with its first apply: the label goes, and all that it does not say", async () => {
    await world.advertise("paris", { labels: { old: "yes" }, instance: "http", sequence: 9 });
    await simNamespace.time.advance(2000);
    expect(await labelOf()).toBe("true");
    world.writes.length = 0;
    await speak(1);
    await simNamespace.time.advance(5000);
    const object = await world.advertisement("paris");
    expect(object?.metadata.labels ?? {}).toEqual({});
    expect(object?.spec).toMatchObject({ instance: "k8s", sequence: 1 });
    expect(object?.spec.labels).toBeUndefined();
    await answer(1);
    await simNamespace.time.advance(60_000);
    expect(await labelOf()).toBeUndefined();
    expect(world.writes.map(({ verb }) => verb)).toEqual(["patch"]);
  });

  test("needs no right to the label or to what the broker computes", async () => {
    await world.advertise("paris", { instance: "http", sequence: 9 });
    await simNamespace.time.advance(2000);
    const before = await world.advertisement("paris");
    const after = await speak(1);
    expect(after.metadata.labels).toEqual(before?.metadata.labels);
    expect(after.spec.resources.reserved).toEqual(before?.spec.resources.reserved);
    expect(after.spec.resources.available).toEqual(before?.spec.resources.available);
  });

  test("is noticed though its clock is behind", async () => {
    await world.advertise("paris", {
      instance: "http",
      sequence: 9,
      statedAt: simNamespace.time.wallMs() + 60_000,
    });
    await simNamespace.time.advance(2000);
    await speak(1);
    await simNamespace.time.advance(1000);
    expect(await labelOf()).toBeUndefined();
  });

  test("is left alone while it waits for its answer, also when the ledger has its word already", async () => {
    await speak(1);
    await simNamespace.time.advance(1000);
    await world.advertise("paris", {
      statedAt: simNamespace.time.wallMs() - 1000,
      instance: "k8s",
      sequence: 1,
    });
    await simNamespace.time.advance(10_000);
    expect(await labelOf()).toBeUndefined();
    expect(world.writes).toEqual([]);
  });

  test.each([
    {
      name: "what it says",
      act: () => world.advertise("paris", { ...HTTP, sequence: 10, labels: { new: "yes" } }),
    },
    { name: "what it lends", act: () => world.reserve("rome", "rsv-rome-1") },
  ])("is not overwritten when it speaks while $name is being shown", async ({ act }) => {
    await world.advertise("paris", { ...HTTP, sequence: 9 });
    await simNamespace.time.advance(2000);
    world.writes.length = 0;
    world.interrupt(() => speak(1));
    await act();
    await simNamespace.time.advance(3000);
    expect(world.writes.length).toBeGreaterThan(0);
    expect((await world.advertisement("paris"))?.spec).toMatchObject({ instance: "k8s", sequence: 1 });
    expect(await labelOf()).toBeUndefined();
  });

  test("may be an older agent, which puts back what it read with the label still on", async () => {
    await world.advertise("paris");
    await simNamespace.time.advance(5000);
    const found = (await world.advertisement("paris")) as ClusterAdvertisement;
    const timestamp = formatTime(simNamespace.time.wallMs());
    await world.people.update(CLUSTER_ADVERTISEMENTS, { ...found, spec: { ...found.spec, timestamp } });
    await simNamespace.time.advance(2000);
    expect(await labelOf()).toBeUndefined();
    expect((await world.advertisement("paris"))?.spec.timestamp).toBe(timestamp);
  });
});

describe("a cluster that moves from Kubernetes to HTTP", () => {
  test("is shown as a view again as soon as it was heard there", async () => {
    await speak(1);
    await answer(1);
    await simNamespace.time.advance(5000);
    expect(await labelOf()).toBeUndefined();
    await world.advertise("paris", { instance: "http", sequence: 1 });
    await simNamespace.time.advance(2000);
    await expectViewsMatchLedger(world);
    expect((await world.advertisement("paris"))?.spec.instance).toBe("http");
  });

  test("is not taken for one when a broker that crashed has forgotten the last word", async () => {
    await world.advertise("paris", {
      instance: "k8s",
      sequence: 1,
      statedAt: simNamespace.time.wallMs() - 9000,
    });
    // The object was answered by the broker before the crash; the ledger has an older word of the same agent.
    await speak(2);
    await world.people.apply(
      CLUSTER_ADVERTISEMENTS,
      {
        metadata: CLUSTER,
        status: {
          accepted: {
            timestamp: formatTime(simNamespace.time.wallMs()),
            instance: "k8s",
            sequence: 2,
            at: formatTime(world.engine.now()),
          },
        },
      },
      { fieldManager: FIELD_MANAGER, force: true, subresource: "status" },
    );
    await simNamespace.time.advance(10_000);
    expect(await labelOf()).toBeUndefined();
    expect((await world.advertisement("paris"))?.spec.sequence).toBe(2);
  });
});

describe("a reservation that somebody's object stands for", () => {
  const spec = { requesterID: "rome", requestedResources: { cpu: "1", memory: "1Gi" } };

  test("gets no view: an agent's object has its name", async () => {
    await world.advertise("paris");
    const name = reservationNameFor("rome", "k1", sha256);
    await world.people.create(RESERVATIONS, {
      ...KIND,
      metadata: { namespace: NAMESPACE, name },
      spec: { ...spec, key: "k1" },
    });
    await simNamespace.time.advance(1000);
    await world.reserve("rome", name);
    await simNamespace.time.advance(3000);
    const object = await world.reservation(name);
    expect(object?.metadata.labels).toBeUndefined();
    expect(object?.status).toBeUndefined();
  });

  test("gets one when the person's object is gone", async () => {
    await world.advertise("paris");
    const asked = await world.people.create(RESERVATIONS, {
      ...KIND,
      metadata: { namespace: NAMESPACE, name: "my-request" },
      spec,
    });
    await simNamespace.time.advance(1000);
    const id = reservationNameFor("rome", asked.metadata.uid ?? "", sha256);
    await world.reserve("rome", id);
    await simNamespace.time.advance(3000);
    expect(await world.reservation(id)).toBeUndefined();
    await world.people.delete(RESERVATIONS, { namespace: NAMESPACE, name: "my-request" });
    await simNamespace.time.advance(3000);
    expect(await world.reservation(id)).toMatchObject({ status: { phase: "Reserved" } });
  });

  test("becomes a view when a person labels it as one; what held it back is let go", async () => {
    await world.advertise("paris");
    const name = reservationNameFor("rome", "k1", sha256);
    await world.people.create(RESERVATIONS, {
      ...KIND,
      metadata: {
        namespace: NAMESPACE,
        name,
        labels: { [KUBE_LABEL.view]: "true" },
        finalizers: ["reservation.broker.fluidos.eu/finalizer"],
      },
      spec: { ...spec, key: "k1" },
    });
    await world.reserve("rome", name);
    await simNamespace.time.advance(5000);
    await expectViewsMatchLedger(world);
    expect(world.engine.ledger.reservations.get(name)?.phase).toBe("Reserved");
  });
});
