import { describe, expect, test } from "vitest";
import { NAMESPACE_OFFLOADINGS } from "../objects/namespace-offloading.ts";
import { DEADLINE_MS } from "./plan-teardown.ts";
import { aStuckPod } from "./testing/liqo-in-memory.ts";
import { liqoWorld } from "./testing/liqo-world.ts";
import { aLoan, ID_A, ID_B, LOAN_A } from "./testing/samples.ts";
import { LOAN_PODS } from "./virtual-kinds.ts";

describe("pods of a namespace", () => {
  const offload = { namespaces: ["shop", "bank"] };
  const loan = aLoan({ id: ID_A }, offload);

  test("may use the loan as long as there is one", async () => {
    const { ready, clean, cluster, left } = liqoWorld();
    await ready(loan);
    await ready(aLoan({ id: ID_B }, { namespaces: ["shop"] }));
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toHaveLength(2);
    await clean(ID_A);
    expect(cluster.all(NAMESPACE_OFFLOADINGS).map(({ metadata }) => metadata.namespace)).toEqual(["shop"]);
    await clean(ID_B);
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
    await clean(ID_A);
    expect(cluster.all(NAMESPACE_OFFLOADINGS)).toMatchObject([{ spec: { podOffloadingStrategy: "Remote" } }]);
  });

  test("are moved before the node goes, by force when they do not move", async () => {
    const { ready, clean, cluster } = liqoWorld();
    await ready(LOAN_A);
    cluster.put(LOAN_PODS, aStuckPod("web", ID_A));
    cluster.put(LOAN_PODS, aStuckPod("logs", ID_A, "DaemonSet"));
    cluster.put(LOAN_PODS, aStuckPod("elsewhere", "n1"));
    const { last, tookMs, reasons } = await clean(ID_A);
    expect(last).toEqual({ kind: "clean" });
    expect(tookMs).toBeGreaterThan(DEADLINE_MS.drain);
    expect(reasons).toContain("ForcingPods");
    expect(cluster.all(LOAN_PODS).map(({ metadata }) => metadata.name)).toEqual(["logs", "elsewhere"]);
  });
});
