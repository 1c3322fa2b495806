import { Fault } from "@resource-broker/contract";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { FOREIGN_CLUSTERS } from "../objects/foreign-cluster.ts";
import { EXPIRES_AT_ANNOTATION } from "../objects/labels.ts";
import { NAMESPACE_OFFLOADINGS } from "../objects/namespace-offloading.ts";
import { RESOURCE_SLICES } from "../objects/resource-slice.ts";
import { VIRTUAL_NODES } from "../objects/virtual-node.ts";
import { DEADLINE_MS } from "./plan-teardown.ts";
import { aStuckPod } from "./testing/liqo-in-memory.ts";
import { clusterIdMap, liqoWorld, MINUTE_MS } from "./testing/liqo-world.ts";
import { aLoan } from "./testing/samples.ts";
import { LOAN_NODES, LOAN_PODS } from "./virtual-kinds.ts";

const A = aLoan({ id: "rsv-rome-a" });
const B = aLoan({ id: "rsv-rome-b" });
const [a, b] = [A.reservation.id, B.reservation.id];

describe("Liqo", () => {
  test("turns a reservation into a virtual node of exactly its size, and takes it away again", async () => {
    const { ready, clean, cluster, left, commands, plane } = liqoWorld();
    const { last, reasons } = await ready(A);
    expect(last).toMatchObject({ kind: "ready", message: expect.stringContaining("paris") });
    expect(reasons).toEqual(["Peering", "SliceCreated", "AwaitingVirtualNode", "NodeReady"]);
    expect(cluster.all(RESOURCE_SLICES)).toMatchObject([
      {
        metadata: {
          name: a,
          namespace: "liqo-tenant-calm-paris",
          labels: {
            "liqo.io/replication": "true",
            "liqo.io/remoteID": "calm-paris",
            "liqo.io/remote-cluster-id": "calm-paris",
            "rear.fluidos.eu/reservation": a,
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
    expect(await plane().leftovers()).toEqual([a]);
    expect((await clean(a)).last).toEqual({ kind: "clean" });
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
    expect(await plane().leftovers()).toEqual([]);
  });

  test("peers once for two reservations, and unpeers with the last", async () => {
    const { ready, clean, slices, commands, left } = liqoWorld();
    await Promise.all([ready(A), ready(B)]);
    expect(slices().sort()).toEqual([a, b]);
    expect(commands()).toEqual(["peer"]);
    await clean(a);
    expect(slices()).toEqual([b]);
    expect(commands()).toEqual(["peer"]);
    expect((await ready(B)).last.kind).toBe("ready");
    await clean(b);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test("unpeers once when both go at the same time", async () => {
    const { ready, clean, commands, left } = liqoWorld();
    await Promise.all([ready(A), ready(B)]);
    await Promise.all([clean(a), clean(b)]);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test("never unpeers what a person has peered", async () => {
    const { ready, clean, commands, liqo, left } = liqoWorld();
    liqo.setRole("calm-paris", "Provider");
    await ready(A);
    await clean(a);
    expect(left()).toEqual([]);
    expect(commands()).toEqual([]);
  });

  test("never unpeers while a person has a slice there", async () => {
    const { ready, clean, cluster, commands, slices } = liqoWorld();
    await ready(A);
    cluster.put(RESOURCE_SLICES, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: { name: "by-hand", namespace: "liqo-tenant-calm-paris" },
      spec: {},
      status: {},
    });
    await clean(a);
    expect(slices()).toEqual(["by-hand"]);
    expect(commands()).toEqual(["peer"]);
  });

  test("begins anew while the last one is still being unpeered", async () => {
    const { ready, clean, commands, liqo, plane, time } = liqoWorld();
    await ready(A);
    liqo.harm.hangs = true;
    await clean(a, 5000);
    expect(await plane().establish(B)).toMatchObject({ reason: "Unpeering" });
    liqo.harm.hangs = false;
    await time.advance(3 * MINUTE_MS);
    await Promise.all([clean(a), ready(B, 5 * MINUTE_MS)]);
    expect(commands()).toEqual(["peer", "unpeer", "force unpeer", "peer"]);
    expect((await ready(B)).last.kind).toBe("ready");
  });

  test("tells the slice of a renewal", async () => {
    const { ready, cluster } = liqoWorld();
    await ready(A);
    const until = (expiresAt: string) =>
      ready(aLoan({ id: a, status: { phase: "Active", message: "", expiresAt } }));
    await until("2026-07-01T12:00:00Z");
    await until("2026-07-01T13:00:00Z");
    expect(cluster.all(RESOURCE_SLICES)[0]?.metadata.annotations?.[EXPIRES_AT_ANNOTATION]).toBe(
      "2026-07-01T13:00:00.000Z",
    );
  });

  test("says what it sees without doing anything", async () => {
    const { plane, cluster, ready } = liqoWorld();
    expect(await plane().observe(A)).toMatchObject({ kind: "working", reason: "NotEstablished" });
    expect(cluster.calls.filter(({ verb }) => verb !== "get" && verb !== "list")).toEqual([]);
    await ready(A);
    expect(await plane().observe(A)).toMatchObject({ kind: "ready" });
  });
});

describe("pods of a namespace", () => {
  const offload = { namespaces: ["shop", "bank"] };
  const loan = aLoan({ id: a }, offload);

  test("may use the loan as long as there is one", async () => {
    const { ready, clean, cluster, left } = liqoWorld();
    await ready(loan);
    await ready(aLoan({ id: b }, { namespaces: ["shop"] }));
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toHaveLength(2);
    await clean(a);
    expect(cluster.all(NAMESPACE_OFFLOADINGS).map(({ metadata }) => metadata.namespace)).toEqual(["shop"]);
    await clean(b);
    expect(left()).toEqual([]);
  });

  test("are left alone where a person decides", async () => {
    const { reason, clean, cluster } = liqoWorld();
    cluster.put(NAMESPACE_OFFLOADINGS, {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: { podOffloadingStrategy: "Remote" },
    });
    expect((await reason(loan, "OffloadingConflict")).last).toMatchObject({ isTrouble: true });
    await clean(a);
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toMatchObject([{ spec: { podOffloadingStrategy: "Remote" } }]);
  });

  test("are moved before the node goes, by force when they do not move", async () => {
    const { ready, clean, cluster } = liqoWorld();
    await ready(A);
    cluster.put(LOAN_PODS, aStuckPod("web", a));
    cluster.put(LOAN_PODS, aStuckPod("logs", a, "DaemonSet"));
    cluster.put(LOAN_PODS, aStuckPod("elsewhere", "n1"));
    const { last, tookMs, reasons } = await clean(a);
    expect(last).toEqual({ kind: "clean" });
    expect(tookMs).toBeGreaterThan(DEADLINE_MS.drain);
    expect(reasons).toContain("ForcingPods");
    expect(cluster.all(LOAN_PODS).map(({ metadata }) => metadata.name)).toEqual(["logs", "elsewhere"]);
  });
});

describe("what goes wrong", () => {
  test.each<[string, (it: ReturnType<typeof liqoWorld>) => void, string, string]>([
    [
      "no kubeconfig",
      ({ state }) => void (state.kubeconfig = false),
      "KubeconfigMissing",
      "paris.kubeconfig",
    ],
    [
      "no liqoctl",
      ({ liqo }) => void (liqo.harm.says = { code: 127, output: "liqoctl cannot be started" }),
      "LiqoctlMissing",
      "cannot be started",
    ],
    [
      "a liqoctl that fails",
      ({ liqo }) => void (liqo.harm.says = { code: 1, output: "INFO ok\nERRO no route to host" }),
      "PeeringFailed",
      "ERRO no route to host",
    ],
    [
      "a liqoctl that only says that it has peered",
      ({ liqo }) => void (liqo.harm.says = { code: 0, output: "INFO ok" }),
      "AwaitingPeering",
      "does not yet say",
    ],
    [
      "a kubeconfig of another cluster",
      ({ remote }) =>
        void remote.edit(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" }, () =>
          clusterIdMap("wild-oslo"),
        ),
      "IdentityMismatch",
      "wild-oslo instead of calm-paris",
    ],
    [
      "a provider that does not answer",
      ({ remote }) => remote.down(),
      "ProviderUnreachable",
      "connection refused",
    ],
    [
      "a cluster without Liqo",
      ({ cluster }) => cluster.remove(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" }),
      "LiqoMissing",
      "install it",
    ],
    ["a grant that is denied", ({ liqo }) => void (liqo.harm.denies = true), "SliceDenied", "Because"],
  ])("%s is told, and ends clean", async (_, happen, reason, message) => {
    const it = liqoWorld();
    happen(it);
    expect((await it.reason(A, reason)).last).toMatchObject({
      reason,
      message: expect.stringContaining(message),
    });
    it.cluster.up();
    expect((await it.clean(a)).last).toEqual({ kind: "clean" });
    expect(it.left()).toEqual([]);
  });

  test("a failure is tried again, and works in the end", async () => {
    const { ready, liqo, commands } = liqoWorld();
    liqo.harm.says = { code: 1, output: "ERRO no route to host" };
    expect((await ready(A, 5 * MINUTE_MS)).last.kind).toBe("ready");
    expect(commands()).toEqual(["peer", "peer"]);
  });

  test("a release while liqoctl is peering ends it, and what it has begun", async () => {
    const { peering, clean, liqo, left, commands } = liqoWorld();
    liqo.harm.hangs = true;
    await peering(A);
    liqo.harm.hangs = false;
    const { last, tookMs } = await clean(a, MINUTE_MS);
    expect(last).toEqual({ kind: "clean" });
    expect(tookMs).toBeLessThan(MINUTE_MS);
    expect(left()).toEqual([]);
    expect(liqo.running()).toBe(0);
    expect(commands()[0]).toBe("peer");
  });

  test("a release of one of two while liqoctl is peering leaves it to the other", async () => {
    const { ready, peering, clean, liqo, commands, time, slices } = liqoWorld();
    liqo.harm.hangs = true;
    await peering(A);
    await peering(B);
    expect((await clean(a, MINUTE_MS)).last).toEqual({ kind: "clean" });
    expect(liqo.running()).toBe(1);
    liqo.harm.hangs = false;
    await time.advance(11 * MINUTE_MS);
    await ready(B, 5 * MINUTE_MS);
    expect(slices()).toEqual([b]);
    expect(commands()).toEqual(["peer", "peer"]);
  });

  test("a liqoctl that hangs is killed in time", async () => {
    const { plane, peering, liqo, time } = liqoWorld();
    liqo.harm.hangs = true;
    await peering(A);
    await time.advance(10 * MINUTE_MS + 16_000);
    expect(await plane().establish(A)).toMatchObject({ reason: "LiqoctlTimedOut", isTrouble: true });
    expect(liqo.running()).toBe(0);
  });

  test("a provider that is gone for good keeps nothing here", async () => {
    const { ready, clean, cluster, liqo, left, commands } = liqoWorld();
    await ready(A);
    cluster.put(LOAN_PODS, aStuckPod("web", a));
    liqo.harm.isProviderGone = true;
    const { last, reasons } = await clean(a);
    expect(last).toEqual({ kind: "clean" });
    expect(reasons).toContain("Forced");
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer", "force unpeer"]);
  });

  test("two reservations of a provider that is gone do not wait for each other", async () => {
    const { ready, clean, liqo, left, commands } = liqoWorld();
    await Promise.all([ready(A), ready(B)]);
    liqo.harm.isProviderGone = true;
    await Promise.all([clean(a), clean(b)]);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer", "force unpeer"]);
  });

  test("a missing right is named", async () => {
    const { plane, cluster } = liqoWorld();
    cluster.setMishaps(({ verb, plural }) =>
      verb === "create" && plural === "configmaps"
        ? { fault: new Fault("forbidden", "may not create configmaps"), isDone: false }
        : undefined,
    );
    expect(await plane().establish(A)).toMatchObject({
      reason: "Forbidden",
      isTrouble: true,
      message: "may not create configmaps",
    });
  });
});

describe("an agent that starts anew", () => {
  test.each(["Peering", "SliceCreated", "AwaitingVirtualNode"])(
    "after %s finds what it began",
    async (step) => {
      const { reason, restart, plane, clean, left, liqo } = liqoWorld();
      if (step === "Peering") liqo.harm.hangs = true;
      await reason(A, step);
      await restart();
      liqo.harm.hangs = false;
      expect(await plane().leftovers()).toEqual([a]);
      expect((await clean(a)).last).toEqual({ kind: "clean" });
      expect(left()).toEqual([]);
    },
  );

  test("goes on with a teardown at whatever step it was", async () => {
    const steps = ["Cordoned", "VirtualNodeLeaving", "SliceLeaving", "Unpeering"];
    for (const step of steps) {
      const { ready, plane, restart, clean, left, time, liqo } = liqoWorld();
      await ready(aLoan({ id: a }, { namespaces: ["shop"] }));
      for (let round = 0; round < 20; round++) {
        const now = await plane().release(a);
        if (now.kind === "clean" || now.reason === step) break;
        liqo.work();
        await time.advance(now.retryAfterMs);
      }
      await restart();
      expect((await clean(a)).last).toEqual({ kind: "clean" });
      expect(left()).toEqual([]);
    }
  });

  test("does not take a real node for its own, nor a slice of others", async () => {
    const { plane, cluster, clean } = liqoWorld();
    cluster.put(LOAN_NODES, { metadata: { name: a }, spec: {} });
    const theirs = { name: a, namespace: "liqo-tenant-calm-oslo" };
    cluster.put(RESOURCE_SLICES, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: { ...theirs, labels: { "rear.fluidos.eu/reservation": a, "liqo.io/replicated": "true" } },
      spec: {},
    });
    expect(await plane().leftovers()).toEqual([]);
    expect((await clean(a)).last).toEqual({ kind: "clean" });
    expect(cluster.find(LOAN_NODES, { name: a })).toMatchObject({ spec: {} });
    expect(cluster.find(RESOURCE_SLICES, theirs)).toBeDefined();
    expect(cluster.all(FOREIGN_CLUSTERS)).toEqual([]);
  });

  test("leaves the virtual node of somebody's slice of the same name alone", async () => {
    const { cluster, liqo, clean, reason } = liqoWorld();
    liqo.setRole("calm-paris", "Provider");
    const theirs = { name: a, namespace: "liqo-tenant-calm-paris" };
    cluster.put(RESOURCE_SLICES, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: { ...theirs, annotations: { "liqo.io/create-virtual-node": "true" } },
      spec: { providerClusterID: "calm-paris", resources: { cpu: "1" } },
    });
    liqo.work();
    liqo.work();
    await reason(A, "SliceConflict");
    expect((await clean(a)).last).toEqual({ kind: "clean" });
    expect(cluster.find(VIRTUAL_NODES, theirs)?.metadata).not.toHaveProperty("deletionTimestamp");
    expect(cluster.find(LOAN_NODES, { name: a })?.spec?.unschedulable).toBeUndefined();
  });
});
