import { describe, expect, test } from "vitest";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import { FOREIGN_CLUSTERS } from "../objects/core.ts";
import { VIRTUAL_NODES } from "../objects/offloading.ts";
import { RESERVATION_NODES } from "./reservation-nodes.ts";
import { liqoTestEnvironment } from "./testing/liqo-test-environment.ts";
import { aDeliverySpec, DELIVERY_A, ID_A, othersSlice } from "./testing/samples.ts";

describe("an agent that restarts", () => {
  test.each(["Peering", "SliceCreated", "AwaitingVirtualNode"])(
    "after %s finds what it began",
    async (step) => {
      const { reason, restart, plane, clean, left, liqo } = liqoTestEnvironment();
      if (step === "Peering") liqo.harm.hangs = true;
      await reason(DELIVERY_A, step);
      await restart();
      liqo.harm.hangs = false;
      expect(await plane().listReservationIds()).toEqual([ID_A]);
      expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
      expect(left()).toEqual([]);
    },
  );

  test("continues with a teardown at whatever step it was", async () => {
    const steps = ["Cordoned", "VirtualNodeLeaving", "SliceLeaving", "Unpeering"];
    for (const step of steps) {
      const { ready, plane, restart, clean, left, time, liqo } = liqoTestEnvironment();
      await ready(aDeliverySpec({ id: ID_A }, { namespaces: ["shop"] }));
      for (let round = 0; round < 20; round++) {
        const now = await plane().release(ID_A);
        if (now.kind === "clean" || now.reason === step) break;
        liqo.work();
        await time.advance(now.retryAfterMs);
      }
      await restart();
      expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
      expect(left()).toEqual([]);
    }
  });

  test("does not take a real node for its own, nor a slice of others", async () => {
    const { plane, cluster, clean } = liqoTestEnvironment();
    cluster.put(RESERVATION_NODES, { metadata: { name: ID_A }, spec: {} });
    const theirs = { name: ID_A, namespace: "liqo-tenant-calm-oslo" };
    const labels = { "rear.fluidos.eu/reservation": ID_A, "liqo.io/replicated": "true" };
    cluster.put(RESOURCE_SLICES, othersSlice({ ...theirs, labels }));
    expect(await plane().listReservationIds()).toEqual([]);
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(cluster.find(RESERVATION_NODES, { name: ID_A })).toMatchObject({ spec: {} });
    expect(cluster.find(RESOURCE_SLICES, theirs)).toBeDefined();
    expect(cluster.all(FOREIGN_CLUSTERS)).toEqual([]);
  });

  test("leaves the virtual node of somebody's slice of the same name alone", async () => {
    const { cluster, liqo, clean, reason } = liqoTestEnvironment();
    liqo.setRole("calm-paris", "Provider");
    const theirs = { name: ID_A, namespace: "liqo-tenant-calm-paris" };
    const annotations = { "liqo.io/create-virtual-node": "true" };
    const spec = { providerClusterID: "calm-paris", resources: { cpu: "1" } };
    cluster.put(RESOURCE_SLICES, othersSlice({ ...theirs, annotations }, spec));
    liqo.work();
    liqo.work();
    await reason(DELIVERY_A, "SliceConflict");
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(cluster.find(VIRTUAL_NODES, theirs)?.metadata).not.toHaveProperty("deletionTimestamp");
    expect(cluster.find(RESERVATION_NODES, { name: ID_A })?.spec?.unschedulable).toBeUndefined();
  });
});
