import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import { EXPIRES_AT_ANNOTATION } from "../objects/labels.ts";
import { RESERVATION_NODES, RESERVATION_PODS } from "./reservation-nodes.ts";
import { aStuckPod } from "./testing/liqo-in-memory.ts";
import {
  clusterIdMap,
  type LiqoTestEnvironment,
  liqoTestEnvironment,
  MINUTE_MS,
} from "./testing/liqo-test-environment.ts";
import { aDeliverySpec, DELIVERY_A, DELIVERY_B, ID_A } from "./testing/samples.ts";

/** Takes some steps of a teardown. */
async function takeDown({ plane, liqo, time }: LiqoTestEnvironment, steps: number): Promise<boolean> {
  for (let step = 0; step < steps; step++) {
    const now = await plane().release(ID_A);
    if (now.kind === "clean") return true;
    liqo.work();
    await time.advance(now.retryAfterMs);
  }
  return false;
}

describe("a reservation that lives again while it is taken down", () => {
  test("is ready for pods again, at whatever step it was", async () => {
    for (let steps = 1, isOver = false; !isOver; steps++) {
      const it = liqoTestEnvironment();
      await it.ready(DELIVERY_A);
      isOver = await takeDown(it, steps);
      expect((await it.ready(DELIVERY_A, 5 * MINUTE_MS)).last, `after ${steps} steps`).toMatchObject({
        kind: "ready",
      });
      expect(it.cluster.find(RESERVATION_NODES, { name: ID_A })?.spec?.unschedulable ?? false).toBe(false);
      expect((await it.clean(ID_A)).last).toEqual({ kind: "clean" });
      expect(it.left()).toEqual([]);
    }
  });

  test("keeps what a person has cordoned", async () => {
    const { ready, cluster } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    cluster.edit(RESERVATION_NODES, { name: ID_A }, (node) => ({ ...node, spec: { unschedulable: true } }));
    expect((await ready(DELIVERY_A)).last).toMatchObject({ kind: "ready" });
    expect(cluster.find(RESERVATION_NODES, { name: ID_A })?.spec).toEqual({ unschedulable: true });
  });

  test("gives its pods their full time when it ends for good", async () => {
    const it = liqoTestEnvironment();
    await it.ready(DELIVERY_A);
    it.cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    await takeDown(it, 3);
    it.cluster.remove(RESERVATION_PODS, { name: "web", namespace: "shop" });
    await it.ready(DELIVERY_A);
    await it.time.advance(60 * MINUTE_MS);
    it.cluster.put(RESERVATION_PODS, aStuckPod("db", ID_A));
    await takeDown(it, 5);
    expect(it.cluster.find(RESERVATION_PODS, { name: "db", namespace: "shop" })).toBeDefined();
    expect(it.cluster.find(RESERVATION_NODES, { name: ID_A })).toBeDefined();
  });
});

describe("an API server that is away", () => {
  test("takes no time from pods that end", async () => {
    const it = liqoTestEnvironment();
    await it.ready(DELIVERY_A);
    it.cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    it.cluster.setCallFaults(({ verb, plural }) =>
      verb === "delete" && plural === "pods"
        ? { fault: new Fault("store-unavailable", "away"), isDone: false }
        : undefined,
    );
    await expect(takeDown(it, 3)).rejects.toThrow("away");
    await it.time.advance(10 * MINUTE_MS);
    it.cluster.setCallFaults(undefined);
    await takeDown(it, 3);
    expect(it.cluster.find(RESERVATION_PODS, { name: "web", namespace: "shop" })?.metadata).toHaveProperty(
      "deletionTimestamp",
    );
    expect(it.cluster.find(RESERVATION_NODES, { name: ID_A })).toBeDefined();
  });
});

describe("a renewal", () => {
  const renewed = aDeliverySpec({
    id: ID_A,
    status: { phase: "Active", message: "", expiresAt: "2026-07-01T12:00:00Z" },
  });

  test("leaves a reservation ready", async () => {
    const { ready, plane, cluster } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    expect(await plane().establish(renewed)).toMatchObject({ kind: "ready" });
    expect(cluster.all(RESOURCE_SLICES)[0]?.metadata.annotations).toMatchObject({
      [EXPIRES_AT_ANNOTATION]: "2026-07-01T12:00:00.000Z",
    });
  });

  test("that the slice was not told of does not make a virtual node disappear", async () => {
    const { ready, plane } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    expect(await plane().observe(renewed)).toMatchObject({ kind: "ready" });
  });
});

describe("what never continues by itself", () => {
  test.each<[string, (it: LiqoTestEnvironment) => void, string]>([
    [
      "a tenant namespace that is not there",
      ({ cluster }) =>
        cluster.setCallFaults(({ verb, plural }) =>
          verb === "create" && plural === "resourceslices"
            ? {
                fault: new Fault("not-found", 'namespaces "liqo-tenant-calm-paris" not found'),
                isDone: false,
              }
            : undefined,
        ),
      "liqo-tenant-calm-paris",
    ],
    [
      "a ConfigMap of somebody else in the marker's place",
      ({ cluster }) =>
        void cluster.put(CONFIG_MAPS, { metadata: { name: "liqo-peering-calm-paris", namespace: "liqo" } }),
      "liqo-peering-calm-paris",
    ],
  ])("%s is told of, and not tried again and again", async (_, act, message) => {
    const it = liqoTestEnvironment();
    act(it);
    const { last } = await it.ready(DELIVERY_A);
    expect(last).toMatchObject({ isStalled: true, message: expect.stringContaining(message) });
  });
});

describe("a peering", () => {
  test("that a person made while this agent could not stays", async () => {
    const { reason, ready, clean, liqo, state, commands, left } = liqoTestEnvironment();
    state.kubeconfig = false;
    await reason(DELIVERY_A, "KubeconfigMissing");
    liqo.setRole("calm-paris", "Provider");
    await ready(DELIVERY_A);
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(commands()).toEqual([]);
    expect(left()).toEqual([]);
  });

  test("is tried at once with a kubeconfig that was put right, whatever the pause", async () => {
    const { ready, time, state, plane } = liqoTestEnvironment();
    state.kubeconfig = false;
    await ready(DELIVERY_A, 20 * MINUTE_MS);
    await plane().establish(DELIVERY_A);
    state.kubeconfig = true;
    const began = time.monotonicMs();
    expect((await ready(DELIVERY_A)).last).toMatchObject({ kind: "ready" });
    expect(time.monotonicMs() - began).toBeLessThan(MINUTE_MS / 2);
  });

  test("begins without the failures of reservations that are gone", async () => {
    const { reason, ready, clean, state } = liqoTestEnvironment();
    state.kubeconfig = false;
    await reason(DELIVERY_A, "KubeconfigMissing");
    await clean(ID_A);
    state.kubeconfig = true;
    const { last, reasons } = await ready(DELIVERY_B);
    expect(last).toMatchObject({ kind: "ready" });
    expect(reasons).not.toContain("KubeconfigMissing");
  });

  test("is not ended with a kubeconfig that now leads to another cluster", async () => {
    const { ready, clean, remote, commands, left } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    remote.edit(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" }, () => clusterIdMap("wild-oslo"));
    expect((await clean(ID_A)).last).toMatchObject({ reason: "IdentityMismatch", isStalled: true });
    expect(commands()).toEqual(["peer"]);
    remote.edit(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" }, () => clusterIdMap("calm-paris"));
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(commands()).toEqual(["peer", "unpeer"]);
    expect(left()).toEqual([]);
  });
});
