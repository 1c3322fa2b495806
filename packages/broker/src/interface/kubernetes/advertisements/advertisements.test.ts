import { type ClusterAdvertisement, KUBE_LABEL } from "@resource-broker/contract";
import type { KubeClient } from "@resource-broker/kube";
import { kubeClientFor } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/resources.ts";
import { agentsWish, offered, publish, wish } from "../testing/samples.ts";
import { NAMESPACE, openScene, type Scene, type SceneBroker } from "../testing/scene.ts";

let scene: Scene;
let broker: SceneBroker;
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
  scene = await openScene();
  broker = await scene.startBroker({ client: counted(kubeClientFor(scene.cluster.kubeconfig)) });
});
afterAll(() => scene.stop());

const isAccepted = (sequence: number) => (object: ClusterAdvertisement) =>
  object.status?.accepted?.sequence === sequence;
const conditionOf = ({ status }: ClusterAdvertisement, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);
const name = (clusterId: string) => ({ name: `${clusterId}-adv`, namespace: NAMESPACE });

describe("an agent's ClusterAdvertisement", () => {
  test("is taken in, and the broker adds what only it knows", async () => {
    await publish(scene.client, "paris", { allocated: { cpu: "4", memory: "16Gi" } });
    const { spec, status } = await scene.advertisement("paris", isAccepted(1));
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
    const { status } = await scene.advertisement("paris");
    await scene.client.patch(CLUSTER_ADVERTISEMENTS, {
      name: name("paris"),
      patch: { kind: "merge", body: { metadata: { annotations: { looked: "at" } } } },
    });
    await scene.time.advance(61_000);
    expect(broker.engine.ledger.accounts.get("paris")?.receivedAt).toBe(receivedAt);
    expect((await scene.advertisement("paris")).status).toEqual(status);
  });

  test("becomes stale by silence alone, and fresh again by the next one", async () => {
    await scene.time.advance(60_000);
    const stale = await scene.advertisement("paris", ({ status }) => status?.phase === "Stale");
    expect(stale.status?.active).toBe(false);
    expect(conditionOf(stale, "Stale")).toMatchObject({ status: "True", reason: "Silent" });
    await scene.until(
      "an Event tells of it",
      async () => (await scene.eventsOf("paris-adv")).includes("Stale") || undefined,
    );
    await publish(scene.client, "paris", { sequence: 2 });
    const fresh = await scene.advertisement("paris", isAccepted(2));
    expect(fresh.status?.phase).toBe("Active");
    expect(conditionOf(fresh, "Stale")?.status).toBe("False");
  });

  test("of an agent that was replaced is turned away, and says so", async () => {
    await publish(scene.client, "paris", { instance: "b", sequence: 1 });
    await scene.advertisement("paris", ({ status }) => status?.accepted?.instance === "b");
    await publish(scene.client, "paris", { instance: "a", sequence: 3 });
    const { status } = await scene.advertisement(
      "paris",
      (object) => object.status?.refused?.instance === "a",
    );
    expect(status?.refused).toMatchObject({ code: "superseded", sequence: 3 });
    expect(status?.accepted?.instance).toBe("b");
    await publish(scene.client, "paris", { instance: "b", sequence: 2 });
    const again = await scene.advertisement(
      "paris",
      ({ status: now }) => now?.accepted?.sequence === 2 && now.accepted.instance === "b",
    );
    expect(again.status?.refused).toBeUndefined();
  });

  test("that lends more than it has left is told so", async () => {
    await scene.client.create(
      RESERVATIONS,
      wish("much", { targetClusterID: "paris", requestedResources: { cpu: "10", memory: "1Gi" } }),
    );
    await scene.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "10");
    await publish(scene.client, "paris", {
      instance: "b",
      sequence: 3,
      allocated: { cpu: "9", memory: "1Gi" },
    });
    const short = await scene.advertisement(
      "paris",
      (object) => conditionOf(object, "Overcommitted")?.status === "True",
    );
    expect(conditionOf(short, "Overcommitted")?.message).toContain("3 CPU");
    expect(short.spec.resources.available?.cpu).toBe("0");
    await scene.client.delete(RESERVATIONS, { name: "much", namespace: NAMESPACE });
    await scene.advertisement("paris", (object) => conditionOf(object, "Overcommitted")?.status === "False");
  });

  test("cannot lower what the broker wrote, by whatever write", async () => {
    await scene.client.create(RESERVATIONS, wish("kept", { targetClusterID: "paris" }));
    await scene.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "500m");
    const found = await scene.client.get(CLUSTER_ADVERTISEMENTS, name("paris"));
    const resources = {
      ...found.spec.resources,
      reserved: { cpu: "0", memory: "0" },
      available: { cpu: "99", memory: "99Gi" },
    };
    await scene.client.update(CLUSTER_ADVERTISEMENTS, { ...found, spec: { ...found.spec, resources } });
    const { spec } = await scene.advertisement(
      "paris",
      (object) => object.spec.resources.reserved?.cpu === "500m",
    );
    expect(spec.resources.available?.cpu).toBe("6500m");
    await scene.client.delete(RESERVATIONS, { name: "kept", namespace: NAMESPACE });
  });

  test("of another name than its cluster's is nobody's", async () => {
    const { spec } = offered("nice");
    if (spec === undefined) throw new Error("the sample is whole");
    const metadata = { name: "wrong-adv", namespace: NAMESPACE };
    await scene.client.create(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata,
      spec,
    });
    const wrong = await scene.advertisement("wrong", (object) => conditionOf(object, "Ready") !== undefined);
    expect(conditionOf(wrong, "Ready")).toMatchObject({ status: "False", reason: "NameMismatch" });
    expect(broker.engine.ledger.accounts.has("nice")).toBe(false);
  });

  test("with the label of a view is left to the views", async () => {
    const { metadata, spec } = offered("seen");
    if (metadata === undefined || spec === undefined) throw new Error("the sample is whole");
    const labelled = { ...metadata, labels: { [KUBE_LABEL.view]: "true" } };
    await scene.client.create(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata: labelled,
      spec,
    });
    await publish(scene.client, "after", {});
    await scene.advertisement("after", isAccepted(1));
    expect((await scene.advertisement("seen")).status).toBeUndefined();
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
    await scene.client.create(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata: name("lyon"),
      spec: spec(1),
    });
    await scene.advertisement("lyon", ({ status }) => status?.accepted?.timestamp === spec(1).timestamp);
    expect(broker.engine.ledger.accounts.get("lyon")?.advertisement?.protocol).toBe(1);
    await scene.client.create(RESERVATIONS, agentsWish("from-lyon", { targetClusterID: "lyon" }));
    await scene.advertisement("lyon", (object) => object.spec.resources.reserved?.cpu === "500m");
    const found = await scene.until("lyon is settled", () =>
      scene.client.get(CLUSTER_ADVERTISEMENTS, name("lyon")),
    );
    const { reserved } = found.spec.resources;
    await scene.client.update(CLUSTER_ADVERTISEMENTS, {
      ...found,
      spec: spec(2, reserved === undefined ? {} : { reserved }),
    });
    const { spec: after } = await scene.advertisement(
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
      await Promise.all(clusters.map((each) => publish(scene.client, each, { sequence, allocated })));
      await scene.until("all are taken in", async () => {
        let taken = 0;
        await scene.client.list(CLUSTER_ADVERTISEMENTS, { namespace: NAMESPACE }, (object) => {
          if (clusters.includes(object.spec.clusterID) && isAccepted(sequence)(object)) taken++;
        });
        return taken === clusters.length || undefined;
      });
    };
    await round(1, "0");
    await scene.time.advance(1000);
    writes = 0;
    await round(2, "1");
    await round(3, "1");
    expect(writes).toBeLessThanOrEqual(50 * 2 * 2);
    writes = 0;
    await scene.time.advance(61_000);
    expect(writes).toBe(0);
  });
});
