import { describe, expect, test } from "vitest";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import { EXPIRES_AT_ANNOTATION } from "../objects/labels.ts";
import { liqoTestEnvironment, MINUTE_MS } from "./testing/liqo-test-environment.ts";
import { aDeliverySpec, DELIVERY_A, DELIVERY_B, ID_A, ID_B, othersSlice } from "./testing/samples.ts";

describe("Liqo", () => {
  test("turns a reservation into a virtual node of exactly its size, and takes it away again", async () => {
    const { ready, clean, cluster, left, commands, plane } = liqoTestEnvironment();
    const { last, reasons } = await ready(DELIVERY_A);
    expect(last).toMatchObject({ kind: "ready", message: expect.stringContaining("paris") });
    expect(reasons).toEqual(["Peering", "SliceCreated", "AwaitingVirtualNode", "NodeReady"]);
    expect(cluster.all(RESOURCE_SLICES)).toMatchObject([
      {
        metadata: {
          name: ID_A,
          namespace: "liqo-tenant-calm-paris",
          labels: {
            "liqo.io/replication": "true",
            "liqo.io/remoteID": "calm-paris",
            "liqo.io/remote-cluster-id": "calm-paris",
            "rear.fluidos.eu/reservation": ID_A,
          },
          annotations: { "liqo.io/create-virtual-node": "true" },
        },
        spec: {
          class: "resource-broker",
          providerClusterID: "calm-paris",
          resources: { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
        },
      },
    ]);
    expect(await plane().listReservationIds()).toEqual([ID_A]);
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
    expect(await plane().listReservationIds()).toEqual([]);
  });

  test("peers once for two reservations, and unpeers with the last", async () => {
    const { ready, clean, slices, commands, left } = liqoTestEnvironment();
    await Promise.all([ready(DELIVERY_A), ready(DELIVERY_B)]);
    expect(slices().sort()).toEqual([ID_A, ID_B]);
    expect(commands()).toEqual(["peer"]);
    await clean(ID_A);
    expect(slices()).toEqual([ID_B]);
    expect(commands()).toEqual(["peer"]);
    expect((await ready(DELIVERY_B)).last.kind).toBe("ready");
    await clean(ID_B);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test("unpeers once when both go at the same time", async () => {
    const { ready, clean, commands, left } = liqoTestEnvironment();
    await Promise.all([ready(DELIVERY_A), ready(DELIVERY_B)]);
    await Promise.all([clean(ID_A), clean(ID_B)]);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test("never unpeers what a person has peered", async () => {
    const { ready, clean, commands, liqo, left } = liqoTestEnvironment();
    liqo.setRole("calm-paris", "Provider");
    await ready(DELIVERY_A);
    await clean(ID_A);
    expect(left()).toEqual([]);
    expect(commands()).toEqual([]);
  });

  test("never unpeers while a person has a slice there", async () => {
    const { ready, clean, cluster, commands, slices } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    const theirs = othersSlice({ name: "by-hand", namespace: "liqo-tenant-calm-paris" });
    cluster.put(RESOURCE_SLICES, { ...theirs, status: {} });
    await clean(ID_A);
    expect(slices()).toEqual(["by-hand"]);
    expect(commands()).toEqual(["peer"]);
  });

  test("begins again while the last one is still being unpeered", async () => {
    const { ready, clean, commands, liqo, plane, time } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.harm.hangs = true;
    await clean(ID_A, 5000);
    expect(await plane().establish(DELIVERY_B)).toMatchObject({ reason: "Unpeering" });
    liqo.harm.hangs = false;
    await time.advance(20 * MINUTE_MS);
    await Promise.all([clean(ID_A), ready(DELIVERY_B, 5 * MINUTE_MS)]);
    expect(commands()).toEqual(["peer", "unpeer", "unpeer", "peer"]);
    expect((await ready(DELIVERY_B)).last.kind).toBe("ready");
  });

  test("tells the slice of a renewal", async () => {
    const { ready, cluster } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    const until = (expiresAt: string) =>
      ready(aDeliverySpec({ id: ID_A, status: { phase: "Active", message: "", expiresAt } }));
    await until("2026-07-01T12:00:00Z");
    await until("2026-07-01T13:00:00Z");
    expect(cluster.all(RESOURCE_SLICES)[0]?.metadata.annotations?.[EXPIRES_AT_ANNOTATION]).toBe(
      "2026-07-01T13:00:00.000Z",
    );
  });

  test("says what it sees without doing anything", async () => {
    const { plane, cluster, ready } = liqoTestEnvironment();
    expect(await plane().observe(DELIVERY_A)).toMatchObject({ kind: "working", reason: "NotEstablished" });
    expect(cluster.calls.filter(({ verb }) => verb !== "get" && verb !== "list")).toEqual([]);
    await ready(DELIVERY_A);
    expect(await plane().observe(DELIVERY_A)).toMatchObject({ kind: "ready" });
  });
});
