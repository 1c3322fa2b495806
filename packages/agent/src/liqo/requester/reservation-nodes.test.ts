import { describe, expect, test } from "vitest";
import { NAMESPACE_OFFLOADINGS } from "../objects/offloading.ts";
import { DEADLINE_MS } from "./plan-teardown.ts";
import { RESERVATION_PODS, type ReservationPod } from "./reservation-nodes.ts";
import { aStuckPod } from "./testing/liqo-in-memory.ts";
import { liqoTestEnvironment } from "./testing/liqo-test-environment.ts";
import { aDeliverySpec, DELIVERY_A, ID_A, ID_B } from "./testing/samples.ts";

describe("pods of a namespace", () => {
  const offload = { namespaces: ["shop", "bank"] };
  const spec = aDeliverySpec({ id: ID_A }, offload);

  test("may use the reservation as long as there is one", async () => {
    const { ready, clean, cluster, left } = liqoTestEnvironment();
    await ready(spec);
    await ready(aDeliverySpec({ id: ID_B }, { namespaces: ["shop"] }));
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toHaveLength(2);
    await clean(ID_A);
    expect(cluster.all(NAMESPACE_OFFLOADINGS).map(({ metadata }) => metadata.namespace)).toEqual(["shop"]);
    await clean(ID_B);
    expect(left()).toEqual([]);
  });

  test("are left alone where a person decides", async () => {
    const { reason, clean, cluster } = liqoTestEnvironment();
    cluster.put(NAMESPACE_OFFLOADINGS, {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: { podOffloadingStrategy: "Remote" },
    });
    expect((await reason(spec, "OffloadingConflict")).last).toMatchObject({ isStalled: true });
    await clean(ID_A);
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toMatchObject([{ spec: { podOffloadingStrategy: "Remote" } }]);
  });

  test("are moved before the node goes, by force when they do not move", async () => {
    const { ready, clean, cluster } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    cluster.put(RESERVATION_PODS, aStuckPod("logs", ID_A, "DaemonSet"));
    cluster.put(RESERVATION_PODS, aStuckPod("elsewhere", "n1"));
    const { last, tookMs, reasons } = await clean(ID_A);
    expect(last).toEqual({ kind: "clean" });
    expect(tookMs).toBeGreaterThan(DEADLINE_MS.drain);
    expect(reasons).toContain("ForcingPods");
    expect(cluster.all(RESERVATION_PODS).map(({ metadata }) => metadata.name)).toEqual(["logs", "elsewhere"]);
  });

  test("do not come back on the node of another reservation, where Liqo would leave them stuck", async () => {
    const { ready, clean, cluster } = liqoTestEnvironment();
    await ready(aDeliverySpec({ id: ID_A }, { namespaces: ["shop"] }));
    await ready(aDeliverySpec({ id: ID_B }));
    cluster.put(RESERVATION_PODS, aPod("on-its-node", ID_A));
    cluster.put(RESERVATION_PODS, aPod("on-the-other", ID_B));
    cluster.put(RESERVATION_PODS, aPod("waits", undefined));
    const bare = aPod("waits-unowned", undefined);
    cluster.put(RESERVATION_PODS, { ...bare, metadata: { ...bare.metadata, ownerReferences: [] } });
    const ofBank = aPod("of-bank", ID_B);
    cluster.put(RESERVATION_PODS, { ...ofBank, metadata: { ...ofBank.metadata, namespace: "bank" } });
    const strategies: unknown[] = [];
    cluster.onCall(({ verb, plural }) => {
      if (verb !== "delete" || plural !== RESERVATION_PODS.plural) return;
      strategies.push(...cluster.all(NAMESPACE_OFFLOADINGS).map(({ spec }) => spec.podOffloadingStrategy));
    });
    await clean(ID_A);
    expect(strategies).toEqual(["Local", "Local", "Local"]);
    expect(cluster.all(RESERVATION_PODS).map(({ metadata }) => metadata.name)).toEqual([
      "waits-unowned",
      "of-bank",
    ]);
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toEqual([]);
  });
});

/** As Liqo's webhook writes it on a pod of a Deployment. */
function aPod(name: string, nodeName: string | undefined): ReservationPod {
  const rule = { key: "liqo.io/remote-cluster-id", operator: "In", values: ["calm-paris"] } as const;
  return {
    metadata: {
      name,
      namespace: "shop",
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: "x", controller: true }],
    },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      tolerations: [{ key: "virtual-node.liqo.io/not-allowed" }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [rule] }],
          },
        },
      },
    },
  };
}
