import { type ClusterAdvertisement, KUBE_LABEL } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import { kubeClientFor } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import { NAMESPACE, openEnvironment, type TestBroker, type TestEnvironment } from "../testing/environment.ts";
import { agentsReservation, offered, personsReservation, publish } from "../testing/samples.ts";

let env: TestEnvironment;
let broker: TestBroker;
let writes = 0;

/** Counts what the broker writes to ClusterAdvertisements. */
function counted(client: KubeClient): KubeClient {
  const count = (resource: unknown): void => {
    if (resource === CLUSTER_ADVERTISEMENTS) writes++;
  };
  return {
    ...client,
    apply: (resource, ...args) => {
      count(resource);
      return client.apply(resource, ...args);
    },
    patch: (resource, ...args) => {
      count(resource);
      return client.patch(resource, ...args);
    },
  };
}

beforeAll(async () => {
  env = await openEnvironment();
  broker = await env.startBroker({ client: counted(kubeClientFor(env.cluster.kubeconfig)) });
});
afterAll(() => env.stop());

const isAccepted = (sequence: number) => (object: ClusterAdvertisement) =>
  object.status?.accepted?.sequence === sequence;
const conditionOf = ({ status }: ClusterAdvertisement, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);
const name = (clusterId: string) => ({ name: `${clusterId}-adv`, namespace: NAMESPACE });

describe("an agent's ClusterAdvertisement", () => {
  test("is taken in, and the broker adds what only it knows", async () => {
    await publish(env.client, "paris", { allocated: { cpu: "4", memory: "16Gi" } });
    const { spec, status } = await env.advertisement("paris", isAccepted(1));
    expect(spec.resources).toMatchObject({
      reserved: { cpu: "0", memory: "0" },
      available: { cpu: "12", memory: "48Gi" },
    });
    expect(status).toMatchObject({
      phase: "Active",
      active: true,
      score: "75.00",
      ledgerID: broker.engine.ledgerId,
    });
    expect(status?.accepted).toMatchObject({ instance: "a", sequence: 1 });
    expect(broker.engine.ledger.accounts.get("paris")?.advertisement?.protocol).toBe(2);
  });

  test("is no newer for being written by somebody else, or looked at again", async () => {
    const receivedAt = broker.engine.ledger.accounts.get("paris")?.receivedAt;
    const { status } = await env.advertisement("paris");
    await env.client.patch(CLUSTER_ADVERTISEMENTS, {
      name: name("paris"),
      patch: { kind: "merge", body: { metadata: { annotations: { looked: "at" } } } },
    });
    await env.time.advance(61_000);
    expect(broker.engine.ledger.accounts.get("paris")?.receivedAt).toBe(receivedAt);
    expect((await env.advertisement("paris")).status).toEqual(status);
  });

  test("becomes stale by silence alone, and fresh again by the next one", async () => {
    await env.time.advance(60_000);
    const stale = await env.advertisement("paris", ({ status }) => status?.phase === "Stale");
    expect(stale.status?.active).toBe(false);
    expect(conditionOf(stale, "Stale")).toMatchObject({ status: "True", reason: "Silent" });
    await env.until(
      "an Event tells of it",
      async () => (await env.eventsOf("paris-adv")).includes("Stale") || undefined,
    );
    await publish(env.client, "paris", { sequence: 2 });
    const fresh = await env.advertisement("paris", isAccepted(2));
    expect(fresh.status?.phase).toBe("Active");
    expect(conditionOf(fresh, "Stale")?.status).toBe("False");
  });

  test("of an agent that was replaced is turned away, and says so", async () => {
    await publish(env.client, "paris", { instance: "b", sequence: 1 });
    await env.advertisement("paris", ({ status }) => status?.accepted?.instance === "b");
    await publish(env.client, "paris", { instance: "a", sequence: 3 });
    const { status } = await env.advertisement("paris", (object) => object.status?.refused?.instance === "a");
    expect(status?.refused).toMatchObject({ code: "superseded", sequence: 3 });
    expect(status?.accepted?.instance).toBe("b");
    await publish(env.client, "paris", { instance: "b", sequence: 2 });
    const again = await env.advertisement(
      "paris",
      ({ status: now }) => now?.accepted?.sequence === 2 && now.accepted.instance === "b",
    );
    expect(again.status?.refused).toBeUndefined();
  });

  test("that lends more than it has left is told so", async () => {
    await env.client.create(
      RESERVATIONS,
      personsReservation("much", {
        targetClusterID: "paris",
        requestedResources: { cpu: "10", memory: "1Gi" },
      }),
    );
    await env.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "10");
    await publish(env.client, "paris", {
      instance: "b",
      sequence: 3,
      allocated: { cpu: "9", memory: "1Gi" },
    });
    const short = await env.advertisement(
      "paris",
      (object) => conditionOf(object, "Overcommitted")?.status === "True",
    );
    expect(conditionOf(short, "Overcommitted")?.message).toContain("3 CPU");
    expect(short.spec.resources.available?.cpu).toBe("0");
    await env.client.delete(RESERVATIONS, { name: "much", namespace: NAMESPACE });
    await env.advertisement("paris", (object) => conditionOf(object, "Overcommitted")?.status === "False");
  });

  test("cannot lower what the broker wrote, by whatever write", async () => {
    await env.client.create(RESERVATIONS, personsReservation("kept", { targetClusterID: "paris" }));
    await env.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "500m");
    const found = await env.client.get(CLUSTER_ADVERTISEMENTS, name("paris"));
    const resources = {
      ...found.spec.resources,
      reserved: { cpu: "0", memory: "0" },
      available: { cpu: "99", memory: "99Gi" },
    };
    await env.client.update(CLUSTER_ADVERTISEMENTS, { ...found, spec: { ...found.spec, resources } });
    const { spec } = await env.advertisement(
      "paris",
      (object) => object.spec.resources.reserved?.cpu === "500m",
    );
    expect(spec.resources.available?.cpu).toBe("6500m");
    await env.client.delete(RESERVATIONS, { name: "kept", namespace: NAMESPACE });
  });

  test("of another name than its cluster's is nobody's", async () => {
    const { spec } = offered("nice");
    if (spec === undefined) throw new Error("the sample is whole");
    const metadata = { name: "wrong-adv", namespace: NAMESPACE };
    await env.client.create(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata,
      spec,
    });
    const wrong = await env.advertisement("wrong", (object) => conditionOf(object, "Ready") !== undefined);
    expect(conditionOf(wrong, "Ready")).toMatchObject({ status: "False", reason: "NameMismatch" });
    expect(broker.engine.ledger.accounts.has("nice")).toBe(false);
  });

  test("with the label of a view is left to the views", async () => {
    const { metadata, spec } = offered("seen");
    if (metadata === undefined || spec === undefined) throw new Error("the sample is whole");
    const labelled = { ...metadata, labels: { [KUBE_LABEL.view]: "true" } };
    await env.client.create(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata: labelled,
      spec,
    });
    await publish(env.client, "after", {});
    await env.advertisement("after", isAccepted(1));
    expect((await env.advertisement("seen")).status).toBeUndefined();
  });
});

describe("an older agent", () => {
  test("that reads and writes whole objects is understood", async () => {
    const all = { cpu: "8", memory: "32Gi" };
    const none = { cpu: "0", memory: "0" };
    const spec = (second: number, reserved: object = {}) => ({
      clusterID: "lyon",
      clusterName: "cluster-advertisement",
      resources: { capacity: all, allocatable: all, allocated: none, available: all, ...reserved },
      timestamp: `2026-01-05T12:00:0${second}+01:00`,
    });
    await env.client.create(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata: name("lyon"),
      spec: spec(1),
    });
    await env.advertisement("lyon", ({ status }) => status?.accepted?.timestamp === spec(1).timestamp);
    expect(broker.engine.ledger.accounts.get("lyon")?.advertisement?.protocol).toBe(1);
    await env.client.create(RESERVATIONS, agentsReservation("from-lyon", { targetClusterID: "lyon" }));
    await env.advertisement("lyon", (object) => object.spec.resources.reserved?.cpu === "500m");
    const found = await env.until("lyon is settled", () =>
      env.client.get(CLUSTER_ADVERTISEMENTS, name("lyon")),
    );
    const { reserved } = found.spec.resources;
    await env.client.update(CLUSTER_ADVERTISEMENTS, {
      ...found,
      spec: spec(2, reserved === undefined ? {} : { reserved }),
    });
    const { spec: after } = await env.advertisement(
      "lyon",
      (object) =>
        object.status?.accepted?.timestamp === spec(2).timestamp &&
        object.spec.resources.available?.cpu === "7500m",
    );
    expect(after.resources.reserved).toEqual({ cpu: "500m", memory: "512Mi" });
  });
});

describe("fifty agents", () => {
  test("that publish every two seconds cost two writes each time, and none when nothing happens", async () => {
    const clusters = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const round = async (sequence: number, cpu: string): Promise<void> => {
      const allocated = { cpu, memory: "0" };
      await Promise.all(clusters.map((each) => publish(env.client, each, { sequence, allocated })));
      await env.until("all are taken in", async () => {
        let taken = 0;
        await env.client.list(CLUSTER_ADVERTISEMENTS, { namespace: NAMESPACE }, (object) => {
          if (clusters.includes(object.spec.clusterID) && isAccepted(sequence)(object)) taken++;
        });
        return taken === clusters.length || undefined;
      });
    };
    await round(1, "0");
    await env.time.advance(1000);
    writes = 0;
    await round(2, "1");
    await round(3, "1");
    expect(writes).toBeLessThanOrEqual(50 * 2 * 2);
    writes = 0;
    await env.time.advance(61_000);
    expect(writes).toBe(0);
  });
});
