import { add, NO_RESOURCES } from "@resource-broker/base";
import { KUBE_LABEL, type Reservation } from "@resource-broker/contract/crd";
import { type Reservation as Booked, isLive } from "@resource-broker/domain";
import { NAMESPACES } from "@resource-broker/kube";
import { clusterOf, requestFor } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "./objects/object-informers.ts";
import {
  NAMESPACE,
  namespaceObject,
  openEnvironment,
  type TestBroker,
  type TestEnvironment,
} from "./testing/environment.ts";
import { agentsReservation, personsReservation, publish } from "./testing/samples.ts";

let env: TestEnvironment;
let broker: TestBroker;
beforeEach(async () => {
  env = await openEnvironment();
  broker = await env.startBroker({ options: { views: true }, policy: { stalenessMs: 1e12 } });
});
afterEach(() => env.stop());

const isView = ({ metadata }: Reservation) => metadata.labels?.[KUBE_LABEL.view] === "true";
const liveOnes = (): Booked[] =>
  [...broker.engine.ledger.reservations.values()].filter(({ phase }) => isLive(phase));

describe("the whole Kubernetes interface", () => {
  test("shows what came over HTTP and serves what came as objects, side by side", async () => {
    await broker.engine.submit({ kind: "advertise", advertisement: clusterOf("milan", 8) });
    await publish(env.client, "paris");
    const milan = await env.advertisement("milan", ({ status }) => status?.active === true);
    expect(milan.metadata.labels?.[KUBE_LABEL.view]).toBe("true");
    await env.advertisement("paris", ({ status }) => status?.active === true);

    const reply = await broker.engine.submit({
      kind: "reserve",
      requester: "rome",
      request: requestFor(1, { target: "paris" }),
      reservationId: "rsv-rome-overhttp",
      decisionId: "dec-1",
    });
    expect(reply.kind).toBe("granted");
    await env.reservation("rsv-rome-overhttp", isView);
    await env.client.create(RESERVATIONS, personsReservation("mine", { targetClusterID: "milan" }));
    await env.reservation("mine", ({ status }) => status?.phase === "Reserved");
    await env.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "1");
    await env.advertisement("milan", ({ spec }) => spec.resources.reserved?.cpu === "500m");

    const names: string[] = [];
    await env.client.list(
      RESERVATIONS,
      { namespace: NAMESPACE },
      ({ metadata }) => void names.push(metadata.name),
    );
    expect(names.toSorted()).toEqual(["mine", "rsv-rome-overhttp"]);
  });

  test("loses nothing with its namespace: what was asked for there comes back as views", async () => {
    await publish(env.client, "paris");
    await env.advertisement("paris", ({ status }) => status?.active === true);
    await env.client.create(RESERVATIONS, personsReservation("mine"));
    const { status } = await env.reservation("mine", (object) => object.status?.phase === "Reserved");
    await env.client.delete(NAMESPACES, { name: NAMESPACE });
    await env.until("the namespace is gone", async () =>
      (await env.client.find(NAMESPACES, { name: NAMESPACE })) === undefined ? true : undefined,
    );
    env.cluster.seed([namespaceObject()]);
    await env.reservation(status?.reservationID ?? "", isView);
    expect(liveOnes()).toHaveLength(1);
  });

  test("reserves nothing twice while many ask and many publish, and reserved is always the sum", async () => {
    const providers = Array.from({ length: 10 }, (_, index) => `p${index}`);
    let sequence = 1;
    const publishAll = async (): Promise<void> => {
      const now = sequence++;
      await Promise.all(providers.map((each) => publish(env.client, each, { cpu: 4, sequence: now })));
    };
    await publishAll();
    for (const each of providers) await env.advertisement(each, ({ status }) => status?.active === true);
    const asking = Array.from({ length: 60 }, (_, index) =>
      index % 2 === 0
        ? personsReservation(`w${index}`, { requestedResources: { cpu: "1", memory: "1Gi" } })
        : agentsReservation(`k${index}`, { requestedResources: { cpu: "1", memory: "1Gi" } }),
    );
    const publishing = (async () => {
      for (let round = 0; round < 4; round++) await publishAll();
    })();
    await Promise.all(asking.map((object) => env.client.create(RESERVATIONS, object)));
    await publishing;
    const phases = await env.until("all are answered", async () => {
      const seen: string[] = [];
      await env.client.list(
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
      const { spec } = await env.advertisement(
        each,
        (object) => object.spec.resources.reserved?.cpu === String(sum.cpuMillis / 1000),
      );
      expect(spec.resources.available?.cpu).toBe("0");
    }
    expect(env.logged.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  test("writes nothing when another replica leads", async () => {
    await broker.stop();
    const idle = await env.startBroker({ isLeading: () => false, options: { views: true } });
    await publish(env.client, "paris");
    await env.client.create(RESERVATIONS, personsReservation("mine"));
    await env.time.advance(5000);
    expect((await env.reservation("mine")).status).toBeUndefined();
    expect(
      (await env.client.get(CLUSTER_ADVERTISEMENTS, { name: "paris-adv", namespace: NAMESPACE })).status,
    ).toBeUndefined();
    expect(idle.engine.ledger.reservations.size).toBe(0);
  });
});
