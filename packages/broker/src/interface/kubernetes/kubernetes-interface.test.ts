import { KUBE_LABEL, type Reservation } from "@resource-broker/contract";
import { add, isLive, NO_RESOURCES, type Reservation as Booked } from "@resource-broker/domain";
import { NAMESPACES } from "@resource-broker/kube";
import { clusterOf, requestFor } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "./objects/resources.ts";
import { agentsWish, publish, wish } from "./testing/samples.ts";
import { NAMESPACE, namespaceObject, openScene, type Scene, type SceneBroker } from "./testing/scene.ts";

let scene: Scene;
let broker: SceneBroker;
beforeEach(async () => {
  scene = await openScene();
  broker = await scene.startBroker({ options: { views: true }, policy: { stalenessMs: 1e12 } });
});
afterEach(() => scene.stop());

const isView = ({ metadata }: Reservation) => metadata.labels?.[KUBE_LABEL.view] === "true";
const liveOnes = (): Booked[] =>
  [...broker.engine.ledger.reservations.values()].filter(({ phase }) => isLive(phase));

describe("the whole Kubernetes interface", () => {
  test("shows what came over HTTP and serves what came as objects, side by side", async () => {
    await broker.engine.submit({ kind: "advertise", advertisement: clusterOf("milan", 8) });
    await publish(scene.client, "paris");
    const milan = await scene.advertisement("milan", ({ status }) => status?.active === true);
    expect(milan.metadata.labels?.[KUBE_LABEL.view]).toBe("true");
    await scene.advertisement("paris", ({ status }) => status?.active === true);

    const reply = await broker.engine.submit({
      kind: "reserve",
      requester: "rome",
      request: requestFor(1, { target: "paris" }),
      reservationId: "rsv-rome-overhttp",
      decisionId: "dec-1",
    });
    expect(reply.kind).toBe("granted");
    await scene.reservation("rsv-rome-overhttp", isView);
    await scene.client.create(RESERVATIONS, wish("mine", { targetClusterID: "milan" }));
    await scene.reservation("mine", ({ status }) => status?.phase === "Reserved");
    await scene.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "1");
    await scene.advertisement("milan", ({ spec }) => spec.resources.reserved?.cpu === "500m");

    const names: string[] = [];
    await scene.client.list(
      RESERVATIONS,
      { namespace: NAMESPACE },
      ({ metadata }) => void names.push(metadata.name),
    );
    expect(names.toSorted()).toEqual(["mine", "rsv-rome-overhttp"]);
  });

  test("loses nothing with its namespace: what was asked for there comes back as views", async () => {
    await publish(scene.client, "paris");
    await scene.advertisement("paris", ({ status }) => status?.active === true);
    await scene.client.create(RESERVATIONS, wish("mine"));
    const { status } = await scene.reservation("mine", (object) => object.status?.phase === "Reserved");
    await scene.client.delete(NAMESPACES, { name: NAMESPACE });
    await scene.until("the namespace is gone", async () =>
      (await scene.client.find(NAMESPACES, { name: NAMESPACE })) === undefined ? true : undefined,
    );
    scene.cluster.seed([namespaceObject()]);
    await scene.reservation(status?.reservationID ?? "", isView);
    expect(liveOnes()).toHaveLength(1);
  });

  test("books nothing twice while many ask and many publish, and reserved is always the sum", async () => {
    const providers = Array.from({ length: 10 }, (_, index) => `p${index}`);
    let sequence = 1;
    const publishAll = async (): Promise<void> => {
      const now = sequence++;
      await Promise.all(providers.map((each) => publish(scene.client, each, { cpu: 4, sequence: now })));
    };
    await publishAll();
    for (const each of providers) await scene.advertisement(each, ({ status }) => status?.active === true);
    const asking = Array.from({ length: 60 }, (_, index) =>
      index % 2 === 0
        ? wish(`w${index}`, { requestedResources: { cpu: "1", memory: "1Gi" } })
        : agentsWish(`k${index}`, { requestedResources: { cpu: "1", memory: "1Gi" } }),
    );
    const publishing = (async () => {
      for (let round = 0; round < 4; round++) await publishAll();
    })();
    await Promise.all(asking.map((object) => scene.client.create(RESERVATIONS, object)));
    await publishing;
    const phases = await scene.until("all are answered", async () => {
      const seen: string[] = [];
      await scene.client.list(
        RESERVATIONS,
        { namespace: NAMESPACE },
        ({ status }) => void seen.push(status?.phase ?? ""),
      );
      return seen.length === asking.length && !seen.includes("") ? seen : undefined;
    });
    expect(phases.filter((phase) => phase === "Reserved")).toHaveLength(40);
    expect(phases.filter((phase) => phase === "Failed")).toHaveLength(20);
    expect(liveOnes()).toHaveLength(40);
    for (const each of providers) {
      const sum = liveOnes()
        .filter(({ provider }) => provider === each)
        .reduce((total, { granted }) => add(total, granted), NO_RESOURCES);
      const { spec } = await scene.advertisement(
        each,
        (object) => object.spec.resources.reserved?.cpu === String(sum.cpuMillis / 1000),
      );
      expect(spec.resources.available?.cpu).toBe("0");
    }
    expect(scene.logged.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  test("writes nothing when another replica leads", async () => {
    await broker.stop();
    const idle = await scene.startBroker({ isLeading: () => false, options: { views: true } });
    await publish(scene.client, "paris");
    await scene.client.create(RESERVATIONS, wish("mine"));
    await scene.time.advance(5000);
    expect((await scene.reservation("mine")).status).toBeUndefined();
    expect(
      (await scene.client.get(CLUSTER_ADVERTISEMENTS, { name: "paris-adv", namespace: NAMESPACE })).status,
    ).toBeUndefined();
    expect(idle.engine.ledger.reservations.size).toBe(0);
  });
});
