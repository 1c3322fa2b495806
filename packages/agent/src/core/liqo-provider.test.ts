import { countedResources } from "@resource-broker/accounting";
import { CONFIG_MAPS, NAMESPACES, PODS } from "@resource-broker/kube";
import { expect, test } from "vitest";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import type { ObjectEvent } from "../events/record-event.ts";
import { RESOURCE_SLICES } from "../liqo/objects/authentication.ts";
import { liqoAccounting } from "../liqo/node-accounting.ts";
import { liqoProvider } from "../liqo/provider/liqo-provider.ts";
import {
  ASKED,
  aReplica,
  MALLORY,
  ROME,
  tenantNamespace,
} from "../liqo/provider/testing/provider-test-environment.ts";
import { fixedPrices } from "../price/price-source.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { testFleet } from "../testing/test-fleet.ts";
import { brokerCommunicator } from "../transport/reservation-mapping.ts";
import { agentCore } from "./agent-core.ts";

/** rome borrows from paris, whose agent knows Liqo. */
function world() {
  const { time, broker, rome, paris } = testFleet();
  const nothing = () => undefined;
  const events: ObjectEvent[] = [];
  const core = agentCore(
    {
      clusterId: "paris",
      clusterName: undefined,
      endpointUrl: undefined,
      labels: {},
      toleratedTaints: [],
      resources: countedResources(),
      intervalMs: 600_000,
      pollIntervalMs: 5000,
      advertisement: { name: "cluster-advertisement", namespace: "default" },
      instructionNamespace: "default",
    },
    {
      client: paris.client,
      communicator: brokerCommunicator(broker.connect("paris")),
      prices: fixedPrices(undefined),
      dataPlane: {
        ...dataPlaneOff(),
        accounting: liqoAccounting,
        createProvider: (context) =>
          liqoProvider(
            { namespace: "liqo", isEnforcing: false },
            { ...context, client: paris.client, clock: time, random: () => 0.5, log: recordedLog() },
          ),
      },
      clock: time,
      random: () => 0.5,
      newInstance: () => "paris-1",
      recordEvent: (event) => void events.push(event),
      observer: {
        published: nothing,
        advertised: nothing,
        reserved: nothing,
        held: nothing,
        watchRestarted: nothing,
        reconcileFailed: nothing,
      },
      log: recordedLog(),
    },
  );
  return {
    time,
    broker,
    rome,
    paris,
    core,
    events,
    begin: async () => {
      const started = Promise.all([core.start(), rome.start()]);
      await time.advance(1000);
      await started;
    },
    installLiqo: () =>
      paris.put(CONFIG_MAPS, {
        metadata: {
          name: "liqo-clusterid-configmap",
          namespace: "liqo",
          labels: { "app.kubernetes.io/name": "clusterid-configmap" },
        },
        data: { CLUSTER_ID: "paris-liqo" },
      }),
    advertised: () => broker.ledger().accounts.get("paris")?.advertisement?.liqo,
  };
}

test("a cluster advertises Liqo's ID while Liqo is installed", async () => {
  const { begin, installLiqo, advertised, time, paris, core } = world();
  await begin();
  expect(advertised()).toBeUndefined();
  installLiqo();
  await time.advance(65_000);
  expect(advertised()).toEqual({ clusterId: "paris-liqo", version: "unknown" });
  paris.remove(CONFIG_MAPS, { name: "liqo-clusterid-configmap", namespace: "liqo" });
  await time.advance(95_000);
  expect(advertised()).toBeUndefined();
  await core.stop();
});

test("a slice is granted when its capacity is held, and refused when it is not", async () => {
  const { begin, installLiqo, time, paris, rome, core, broker, events } = world();
  installLiqo();
  paris.put(NAMESPACES, tenantNamespace(ROME));
  await begin();
  rome.createRequest("more");
  await time.advance(1000);
  const id = broker.live()[0]?.id ?? "";
  paris.put(RESOURCE_SLICES, aReplica({ name: id }));
  paris.put(RESOURCE_SLICES, aReplica({ name: "rsv-rome-nothing" }));
  const known = core.cache.get("provider", id)?.reservation;
  if (known !== undefined)
    core.cache.update("provider", { ...known, dataPlaneIds: { requester: ROME }, generation: 99 });
  await time.advance(15_000);
  const statusOf = (name: string) =>
    paris.find(RESOURCE_SLICES, { name, namespace: `liqo-tenant-${ROME}` })?.status;
  expect(statusOf(id)).toMatchObject({ conditions: [{ status: "Accepted" }], resources: ASKED });
  expect(statusOf("rsv-rome-nothing")).toMatchObject({ conditions: [{ reason: "UnknownReservation" }] });
  expect(events.map(({ reason }) => reason)).toEqual(["HoldPlaced", "SliceGranted", "SliceRefused"]);
  await Promise.all([core.stop(), rome.stop()]);
});

test("only pods of the requester use a reservation; those of others count as the cluster's own", async () => {
  const { begin, time, paris, rome, core, broker } = world();
  await begin();
  rome.createRequest("more");
  await time.advance(1000);
  const id = broker.live()[0]?.id ?? "";
  const known = core.cache.get("provider", id)?.reservation;
  if (known !== undefined)
    core.cache.update("provider", { ...known, dataPlaneIds: { requester: ROME }, generation: 99 });
  for (const origin of [ROME, MALLORY]) {
    paris.put(PODS, {
      metadata: {
        name: `web-${origin}`,
        namespace: "shop",
        uid: `uid-${origin}`,
        labels: {
          "liqo.io/managed-by": "shadowpod",
          "offloading.liqo.io/origin": origin,
          "offloading.liqo.io/nodename": id,
          "liqo.io/creator-user": `${id}-0a1b2c`,
        },
      },
      spec: { nodeName: "paris-1", containers: [{ name: "web", resources: { requests: { cpu: "1" } } }] },
      status: { phase: "Running" },
    });
  }
  await time.advance(40_000);
  const advertisement = broker.ledger().accounts.get("paris")?.advertisement;
  expect(advertisement?.usage).toMatchObject([{ reservationId: id, used: { cpuMillis: 1000 } }]);
  expect(advertisement?.allocated.cpuMillis).toBe(1000);
  await Promise.all([core.stop(), rome.stop()]);
});
