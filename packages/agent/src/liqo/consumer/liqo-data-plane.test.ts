import { describe, expect, test } from "vitest";
import { EXPIRES_AT_ANNOTATION } from "../objects/labels.ts";
import { RESOURCE_SLICES } from "../objects/resource-slice.ts";
import { liqoWorld, MINUTE_MS } from "./testing/liqo-world.ts";
import { aLoan, ID_A, ID_B, LOAN_A, LOAN_B, othersSlice } from "./testing/samples.ts";

describe("Liqo", () => {
  test("turns a reservation into a virtual node of exactly its size, and takes it away again", async () => {
    const { ready, clean, cluster, left, commands, plane } = liqoWorld();
    const { last, reasons } = await ready(LOAN_A);
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
    expect(await plane().leftovers()).toEqual([ID_A]);
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
    expect(await plane().leftovers()).toEqual([]);
  });

  test("peers once for two reservations, and unpeers with the last", async () => {
    const { ready, clean, slices, commands, left } = liqoWorld();
    await Promise.all([ready(LOAN_A), ready(LOAN_B)]);
    expect(slices().sort()).toEqual([ID_A, ID_B]);
    expect(commands()).toEqual(["peer"]);
    await clean(ID_A);
    expect(slices()).toEqual([ID_B]);
    expect(commands()).toEqual(["peer"]);
    expect((await ready(LOAN_B)).last.kind).toBe("ready");
    await clean(ID_B);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test("unpeers once when both go at the same time", async () => {
    const { ready, clean, commands, left } = liqoWorld();
    await Promise.all([ready(LOAN_A), ready(LOAN_B)]);
    await Promise.all([clean(ID_A), clean(ID_B)]);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test("never unpeers what a person has peered", async () => {
    const { ready, clean, commands, liqo, left } = liqoWorld();
    liqo.setRole("calm-paris", "Provider");
    await ready(LOAN_A);
    await clean(ID_A);
    expect(left()).toEqual([]);
    expect(commands()).toEqual([]);
  });

  test("never unpeers while a person has a slice there", async () => {
    const { ready, clean, cluster, commands, slices } = liqoWorld();
    await ready(LOAN_A);
    const theirs = othersSlice({ name: "by-hand", namespace: "liqo-tenant-calm-paris" });
    cluster.put(RESOURCE_SLICES, { ...theirs, status: {} });
    await clean(ID_A);
    expect(slices()).toEqual(["by-hand"]);
    expect(commands()).toEqual(["peer"]);
  });

  test("begins anew while the last one is still being unpeered", async () => {
    const { ready, clean, commands, liqo, plane, time } = liqoWorld();
    await ready(LOAN_A);
    liqo.harm.hangs = true;
    await clean(ID_A, 5000);
    expect(await plane().establish(LOAN_B)).toMatchObject({ reason: "Unpeering" });
    liqo.harm.hangs = false;
    await time.advance(20 * MINUTE_MS);
    await Promise.all([clean(ID_A), ready(LOAN_B, 5 * MINUTE_MS)]);
    expect(commands()).toEqual(["peer", "unpeer", "unpeer", "peer"]);
    expect((await ready(LOAN_B)).last.kind).toBe("ready");
  });

  test("tells the slice of a renewal", async () => {
    const { ready, cluster } = liqoWorld();
    await ready(LOAN_A);
    const until = (expiresAt: string) =>
      ready(aLoan({ id: ID_A, status: { phase: "Active", message: "", expiresAt } }));
    await until("2026-07-01T12:00:00Z");
    await until("2026-07-01T13:00:00Z");
    expect(cluster.all(RESOURCE_SLICES)[0]?.metadata.annotations?.[EXPIRES_AT_ANNOTATION]).toBe(
      "2026-07-01T13:00:00.000Z",
    );
  });

  test("says what it sees without doing anything", async () => {
    const { plane, cluster, ready } = liqoWorld();
    expect(await plane().observe(LOAN_A)).toMatchObject({ kind: "working", reason: "NotEstablished" });
    expect(cluster.calls.filter(({ verb }) => verb !== "get" && verb !== "list")).toEqual([]);
    await ready(LOAN_A);
    expect(await plane().observe(LOAN_A)).toMatchObject({ kind: "ready" });
  });
});
