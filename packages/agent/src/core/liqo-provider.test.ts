import { CONFIG_MAPS, NAMESPACES, PODS } from "@resource-broker/kube";
import { expect, test } from "vitest";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import { liqoAccounting } from "../liqo/node-accounting.ts";
import { RESOURCE_SLICES } from "../liqo/objects.ts";
import { liqoProvider } from "../liqo/provider/liqo-provider.ts";
import {
  ASKED,
  aReplica,
  MALLORY,
  ROME,
  tenantNamespace,
} from "../liqo/provider/testing/provider-test-environment.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { testFleet } from "../testing/test-fleet.ts";

/** rome borrows from paris, whose agent knows Liqo. */
function world() {
  const options = { namespace: "liqo", isEnforcing: false };
  let listMs = 0;
  const fleet = testFleet({
    lenderPlane: (client, clock) => ({
      ...dataPlaneOff(),
      accounting: liqoAccounting,
      createProvider: (context) => {
        const list: typeof client.list = async (...args) => {
          if (listMs > 0) await new Promise<void>((resolve) => void clock.after(listMs, resolve));
          return client.list(...args);
        };
        const deps = { client: { ...client, list }, clock, random: () => 0.5, log: recordedLog() };
        return liqoProvider(options, { ...context, ...deps });
      },
    }),
  });
  const { time, broker, rome, paris } = fleet;
  const metadata = {
    name: "liqo-clusterid-configmap",
    namespace: "liqo",
    labels: { "app.kubernetes.io/name": "clusterid-configmap" },
  };
  return {
    ...fleet,
    installLiqo: () => paris.put(CONFIG_MAPS, { metadata, data: { CLUSTER_ID: "paris-liqo" } }),
    /** From now on Liqo's objects are listed so late. */
    delayLists: (ms: number) => {
      listMs = ms;
    },
    advertised: () => broker.ledger().accounts.get("paris")?.advertisement?.liqo,
    /** rome has a reservation here, and paris knows which Liqo rome is. */
    reserve: async (): Promise<string> => {
      rome.createRequest("more");
      await time.advance(1000);
      const { cache } = paris.core();
      const [entry] = cache.live("provider");
      if (entry === undefined) throw new Error("nothing is reserved");
      const dataPlaneIds = { requester: ROME, provider: undefined };
      cache.update("provider", { ...entry.reservation, dataPlaneIds, generation: 99 });
      return entry.reservation.id;
    },
  };
}

test("a cluster advertises Liqo's ID while Liqo is installed", async () => {
  const { begin, installLiqo, advertised, time, paris } = world();
  await begin();
  expect(advertised()).toBeUndefined();
  installLiqo();
  await time.advance(65_000);
  expect(advertised()).toEqual({ clusterId: "paris-liqo", version: "unknown" });
  paris.remove(CONFIG_MAPS, { name: "liqo-clusterid-configmap", namespace: "liqo" });
  await time.advance(95_000);
  expect(advertised()).toBeUndefined();
});

test("a cluster whose agent starts again keeps Liqo's ID, also where the API server answers late", async () => {
  const { begin, installLiqo, advertised, delayLists, time, paris } = world();
  installLiqo();
  await begin();
  await time.advance(65_000);
  await paris.stop();
  delayLists(2000);
  void paris.start();
  const seen = new Set<string | undefined>();
  for (let passedMs = 0; passedMs < 40_000; passedMs += 500) {
    await time.advance(500);
    seen.add(advertised()?.clusterId);
  }
  expect([...seen]).toEqual(["paris-liqo"]);
});

test("a slice is granted when its capacity is held, and refused when it is not", async () => {
  const { begin, installLiqo, time, paris, reserve } = world();
  installLiqo();
  paris.put(NAMESPACES, tenantNamespace(ROME));
  await begin();
  const id = await reserve();
  paris.put(RESOURCE_SLICES, aReplica({ name: id }));
  paris.put(RESOURCE_SLICES, aReplica({ name: "rsv-rome-nothing" }));
  await time.advance(15_000);
  const statusOf = (name: string) =>
    paris.find(RESOURCE_SLICES, { name, namespace: `liqo-tenant-${ROME}` })?.status;
  expect(statusOf(id)).toMatchObject({ conditions: [{ status: "Accepted" }], resources: ASKED });
  expect(statusOf("rsv-rome-nothing")).toMatchObject({ conditions: [{ reason: "UnknownReservation" }] });
  expect(paris.events.map(({ reason }) => reason)).toEqual(["HoldPlaced", "SliceGranted", "SliceRefused"]);
});

test("only pods of the requester use a reservation; those of others count as the cluster's own", async () => {
  const { begin, time, paris, broker, reserve } = world();
  await begin();
  const id = await reserve();
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
});
