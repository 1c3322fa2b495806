import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import {
  EXPIRES_AT_ANNOTATION,
  FOREIGN_CLUSTERS,
  NAMESPACE_OFFLOADINGS,
  RESERVATION_NODES,
  RESERVATION_PODS,
  type ReservationPod,
  RESOURCE_SLICES,
  VIRTUAL_NODES,
} from "../objects.ts";
import { DEADLINE_MS } from "./plan-teardown.ts";
import { type LiqoTestEnvironment, liqoTestEnvironment, MINUTE_MS } from "./testing/liqo-test-environment.ts";
import {
  aDeliverySpec,
  aStuckPod,
  DELIVERY_A,
  DELIVERY_B,
  ID_A,
  ID_B,
  othersSlice,
} from "./testing/samples.ts";

const SHOP = { namespaces: ["shop"] };
const podNames = ({ cluster }: LiqoTestEnvironment) =>
  cluster.all(RESERVATION_PODS).map(({ metadata }) => metadata.name);

/** Takes some steps of a teardown, or until it reports this reason; true: it is clean. */
async function takeDown(
  { plane, liqo, time }: LiqoTestEnvironment,
  steps: number,
  last = "",
): Promise<boolean> {
  for (let step = 0; step < steps; step++) {
    const now = await plane().release(ID_A);
    if (now.kind === "clean") return true;
    if (now.reason === last) return false;
    liqo.work();
    await time.advance(now.retryAfterMs);
  }
  return false;
}

async function expectClean({ clean, left }: LiqoTestEnvironment): Promise<void> {
  expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
  expect(left()).toEqual([]);
}

describe("a reservation", () => {
  test("is looked at often after each step, and every 2 s when Liqo takes long", async () => {
    const { plane, liqo, time, reason } = liqoTestEnvironment();
    await reason(DELIVERY_A, "SliceCreated");
    const pauses: Record<string, number[]> = {};
    const look = async (times: number): Promise<void> => {
      for (let step = 0; step < times; step++) {
        const now = await plane().establish(DELIVERY_A);
        if (now.kind !== "working") return;
        (pauses[now.reason] ??= []).push(now.retryAfterMs);
        await time.advance(now.retryAfterMs);
      }
    };
    await look(40);
    liqo.work();
    await look(3);
    const { AwaitingAuthentication: first = [], AwaitingVirtualNode: next = [] } = pauses;
    expect(first.slice(7, 11)).toEqual([100, 100, 113, 127]);
    expect(Math.min(...first)).toBe(100);
    expect(first.at(-1)).toBe(2000);
    expect(next).toEqual([100, 100, 100]);
  });

  test("becomes a virtual node of exactly its size, and goes again", async () => {
    const it = liqoTestEnvironment();
    const { ready, cluster, commands, plane } = it;
    expect(await plane().observe(DELIVERY_A)).toMatchObject({ kind: "working", reason: "NotEstablished" });
    expect(cluster.calls.filter(({ verb }) => verb !== "get" && verb !== "list")).toEqual([]);
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
    expect(await plane().observe(DELIVERY_A)).toMatchObject({ kind: "ready" });
    expect(await plane().listReservationIds()).toEqual([ID_A]);
    await expectClean(it);
    expect(commands()).toEqual(["peer", "unpeer"]);
    expect(await plane().listReservationIds()).toEqual([]);
  });

  test("that is renewed stays ready, also before its slice is told", async () => {
    const { ready, plane, cluster } = liqoTestEnvironment();
    const status = { phase: "Active", message: "", expiresAt: "2026-07-01T12:00:00Z" } as const;
    const renewed = aDeliverySpec({ id: ID_A, status });
    await ready(DELIVERY_A);
    expect(await plane().observe(renewed)).toMatchObject({ kind: "ready" });
    expect(await plane().establish(renewed)).toMatchObject({ kind: "ready" });
    expect(cluster.all(RESOURCE_SLICES)[0]?.metadata.annotations).toMatchObject({
      [EXPIRES_AT_ANNOTATION]: "2026-07-01T12:00:00.000Z",
    });
  });

  test("that lives again is ready for pods again, at whatever step of the teardown it was", async () => {
    for (let steps = 1, isOver = false; !isOver; steps++) {
      const it = liqoTestEnvironment();
      await it.ready(DELIVERY_A);
      isOver = await takeDown(it, steps);
      const { last } = await it.ready(DELIVERY_A, 5 * MINUTE_MS);
      expect(last, `after ${steps} steps`).toMatchObject({ kind: "ready" });
      expect(it.cluster.find(RESERVATION_NODES, { name: ID_A })?.spec?.unschedulable ?? false).toBe(false);
      await expectClean(it);
    }
  });

  test("under notice stays ready, gets no new pods, and keeps those that it has", async () => {
    const { ready, plane, cluster, restart } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    for (const [name, nodeName, phase] of [
      ["shop", ID_A, "Running"],
      ["done", ID_A, "Succeeded"],
      ["other", "rome-1", "Running"],
    ] as const)
      cluster.put(RESERVATION_PODS, {
        metadata: { name, namespace: "default" },
        spec: { nodeName },
        status: { phase },
      });
    const node = () => cluster.find(RESERVATION_NODES, { name: ID_A });
    const preempting = { at: "2026-07-01T10:05:00Z", byPriority: 50 };
    const noticed = aDeliverySpec({ id: ID_A, preempting });
    for (const delivery of [noticed, noticed, DELIVERY_A, noticed]) {
      expect(await plane().establish(delivery)).toMatchObject({ kind: "ready" });
      expect(node()?.spec?.unschedulable === true).toBe(delivery === noticed);
      await restart();
    }
    expect(cluster.all(RESERVATION_PODS).map(({ metadata }) => metadata.name)).toEqual([
      "shop",
      "done",
      "other",
    ]);
    expect((await plane().listPods(ID_A)).map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ["Pod", "shop"],
    ]);
    // Nobody writes for a reservation that the broker does not know.
    expect(await plane().observe(DELIVERY_A)).toMatchObject({ kind: "ready" });
    expect(node()?.spec?.unschedulable).toBe(true);
  });

  test("lists no pods of a real node of its name", async () => {
    const { plane, cluster } = liqoTestEnvironment();
    cluster.put(RESERVATION_NODES, { metadata: { name: ID_A }, spec: {} });
    cluster.put(RESERVATION_PODS, {
      metadata: { name: "shop", namespace: "default" },
      spec: { nodeName: ID_A },
    });
    expect(await plane().listPods(ID_A)).toEqual([]);
  });

  test("that lives again keeps what a person has cordoned", async () => {
    const { ready, cluster } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    cluster.edit(RESERVATION_NODES, { name: ID_A }, (node) => ({ ...node, spec: { unschedulable: true } }));
    expect((await ready(DELIVERY_A)).last).toMatchObject({ kind: "ready" });
    expect(cluster.find(RESERVATION_NODES, { name: ID_A })?.spec).toEqual({ unschedulable: true });
  });
});

describe("an agent that restarts", () => {
  test.each(["Peering", "SliceCreated", "AwaitingVirtualNode"])(
    "after %s finds what it began",
    async (step) => {
      const it = liqoTestEnvironment();
      if (step === "Peering") it.liqo.faults.hangs = true;
      await it.reason(DELIVERY_A, step);
      await it.restart();
      it.liqo.faults.hangs = false;
      expect(await it.plane().listReservationIds()).toEqual([ID_A]);
      await expectClean(it);
    },
  );

  test.each(["Cordoned", "VirtualNodeLeaving", "SliceLeaving", "Unpeering"])(
    "continues with a teardown at %s",
    async (step) => {
      const it = liqoTestEnvironment();
      await it.ready(aDeliverySpec({ id: ID_A }, SHOP));
      await takeDown(it, 20, step);
      await it.restart();
      await expectClean(it);
    },
  );

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
    liqo.setPeered(true);
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

describe("pods", () => {
  test("of a namespace may use its reservations as long as there is one", async () => {
    const it = liqoTestEnvironment();
    const offloaded = () => it.cluster.all(NAMESPACE_OFFLOADINGS).map(({ metadata }) => metadata.namespace);
    await it.ready(aDeliverySpec({ id: ID_B }, { namespaces: ["shop", "bank"] }));
    await it.ready(aDeliverySpec({ id: ID_A }, SHOP));
    expect(offloaded()).toEqual(["shop", "bank"]);
    await it.clean(ID_B);
    expect(offloaded()).toEqual(["shop"]);
    await expectClean(it);
  });

  test("are moved before the node goes, by force when they do not move", async () => {
    const it = liqoTestEnvironment();
    await it.ready(DELIVERY_A);
    it.cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    it.cluster.put(RESERVATION_PODS, aStuckPod("logs", ID_A, "DaemonSet"));
    it.cluster.put(RESERVATION_PODS, aStuckPod("elsewhere", "n1"));
    const { last, tookMs, reasons } = await it.clean(ID_A);
    expect(last).toEqual({ kind: "clean" });
    expect(tookMs).toBeGreaterThan(DEADLINE_MS.drain);
    expect(reasons).toContain("ForcingPods");
    expect(podNames(it)).toEqual(["logs", "elsewhere"]);
  });

  test("do not come back on the node of another reservation, where Liqo would leave them stuck", async () => {
    const it = liqoTestEnvironment();
    const { ready, clean, cluster } = it;
    await ready(aDeliverySpec({ id: ID_A }, SHOP));
    await ready(DELIVERY_B);
    cluster.put(RESERVATION_PODS, aPod("on-its-node", { nodeName: ID_A }));
    cluster.put(RESERVATION_PODS, aPod("on-the-other", { nodeName: ID_B }));
    cluster.put(RESERVATION_PODS, aPod("waits", {}));
    cluster.put(RESERVATION_PODS, aPod("waits-unowned", {}, { ownerReferences: [] }));
    cluster.put(RESERVATION_PODS, aPod("of-bank", { nodeName: ID_B }, { namespace: "bank" }));
    const strategies: unknown[] = [];
    cluster.onCall(({ verb, plural }) => {
      if (verb !== "delete" || plural !== RESERVATION_PODS.plural) return;
      strategies.push(...cluster.all(NAMESPACE_OFFLOADINGS).map(({ spec }) => spec.podOffloadingStrategy));
    });
    await clean(ID_A);
    expect(strategies).toEqual(["Local", "Local", "Local"]);
    expect(podNames(it)).toEqual(["waits-unowned", "of-bank"]);
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toEqual([]);
  });

  test("have their full time when a reservation that lived again ends for good", async () => {
    const it = liqoTestEnvironment();
    await it.ready(DELIVERY_A);
    it.cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    await takeDown(it, 3);
    it.cluster.remove(RESERVATION_PODS, { name: "web", namespace: "shop" });
    await it.ready(DELIVERY_A);
    await it.time.advance(60 * MINUTE_MS);
    it.cluster.put(RESERVATION_PODS, aStuckPod("db", ID_A));
    await takeDown(it, 5);
    expect(podNames(it)).toContain("db");
    expect(it.cluster.find(RESERVATION_NODES, { name: ID_A })).toBeDefined();
  });

  test("lose no time to an API server that is away", async () => {
    const it = liqoTestEnvironment();
    await it.ready(DELIVERY_A);
    it.cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    const fault = new Fault("store-unavailable", "away");
    it.cluster.setCallFaults(({ verb, plural }) =>
      verb === "delete" && plural === "pods" ? { fault } : undefined,
    );
    await expect(takeDown(it, 3)).rejects.toThrow("away");
    await it.time.advance(10 * MINUTE_MS);
    it.cluster.setCallFaults(undefined);
    await takeDown(it, 3);
    expect(it.cluster.all(RESERVATION_PODS)[0]?.metadata).toHaveProperty("deletionTimestamp");
    expect(it.cluster.find(RESERVATION_NODES, { name: ID_A })).toBeDefined();
  });
});

describe("what never continues by itself", () => {
  const refusing =
    (plural: string, fault: Fault) =>
    ({ cluster }: LiqoTestEnvironment) =>
      cluster.setCallFaults((call) =>
        call.verb === "create" && call.plural === plural ? { fault } : undefined,
      );
  const MARKER = { name: "liqo-peering-calm-paris", namespace: "liqo" };
  test.each<[string, (it: LiqoTestEnvironment) => void, string, string]>([
    [
      "a tenant namespace that is not there",
      refusing("resourceslices", new Fault("not-found", "namespace not found")),
      "TenantNamespaceMissing",
      "liqo-tenant-calm-paris",
    ],
    [
      "a ConfigMap of somebody else in the marker's place",
      ({ cluster }) => void cluster.put(CONFIG_MAPS, { metadata: MARKER }),
      "RefusedByServer",
      "liqo-peering-calm-paris",
    ],
    [
      "a missing right",
      refusing("configmaps", new Fault("forbidden", "may not create configmaps")),
      "Forbidden",
      "may not create configmaps",
    ],
  ])("%s is told of, and not tried again and again", async (_, act, reason, message) => {
    const it = liqoTestEnvironment();
    act(it);
    const { last } = await it.ready(DELIVERY_A);
    expect(last).toMatchObject({ isStalled: true, reason, message: expect.stringContaining(message) });
  });
});

/** As Liqo's webhook writes it on a pod of a Deployment. */
function aPod(
  name: string,
  placed: { readonly nodeName?: string },
  changes: Partial<ReservationPod["metadata"]> = {},
): ReservationPod {
  const rule = { key: "liqo.io/remote-cluster-id", operator: "In", values: ["calm-paris"] } as const;
  const required = { nodeSelectorTerms: [{ matchExpressions: [rule] }] };
  const { finalizers: _, ...metadata } = aStuckPod(name, "").metadata;
  return {
    metadata: { ...metadata, ...changes },
    spec: {
      ...placed,
      tolerations: [{ key: "virtual-node.liqo.io/not-allowed" }],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    },
  };
}
