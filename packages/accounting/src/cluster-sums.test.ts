import { NO_RESOURCES } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ClusterSums, clusterSums } from "./cluster-sums.ts";
import { emptyModel, recount, steps } from "./testing/cluster-model.ts";
import { aNode, aPod, cpus } from "./testing/facts.ts";

describe("cluster sums", () => {
  it("count the whole node as taken while a pod on it asks for what cannot be read", () => {
    const sums = clusterSums();
    sums.putPod(aPod({ key: "odd", nodeName: "node-1", request: cpus(1), unreadable: true }));
    sums.putPod(aPod({ key: "plain", nodeName: "node-1", request: cpus(1) }));
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(4) }));
    sums.putNode(aNode({ name: "node-2", allocatable: cpus(8) }));
    const lendable = { allocatable: cpus(8), allocated: NO_RESOURCES };
    expect(sums.totals()).toMatchObject(lendable);
    expect([...sums.nodes()].map(({ verdict }) => verdict)).toMatchObject([
      { counted: false, reason: "unreadable-pod" },
      { counted: true },
    ]);
    sums.putPod(aPod({ key: "second", nodeName: "node-1", unreadable: true }));
    sums.removePod("odd");
    expect(sums.totals()).toMatchObject(lendable);
    sums.putPod(aPod({ key: "second", nodeName: "node-1", request: cpus(2) }));
    expect(sums.totals()).toMatchObject({ allocatable: cpus(12), allocated: cpus(3) });
  });

  it("count a node whose taint is tolerated, and name the reason for one whose taint is not", () => {
    const taints = [{ key: "dedicated", value: "batch", effect: "NoSchedule" }];
    const reasons = (sums: ClusterSums) => {
      sums.putNode(aNode({ taints }));
      return [...sums.nodes()].map(({ verdict }) => (verdict.counted ? "counted" : verdict.reason));
    };
    expect(reasons(clusterSums({ toleratedTaints: [{ key: "dedicated" }] }))).toEqual(["counted"]);
    expect(reasons(clusterSums())).toEqual(["tainted"]);
  });
});

describe("listing again", () => {
  function observed(): ClusterSums {
    const sums = clusterSums();
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(8) }));
    sums.putNode(aNode({ name: "node-2", allocatable: cpus(8) }));
    for (const key of ["a", "b"]) sums.putPod(aPod({ key, nodeName: "node-1", request: cpus(1) }));
    sums.putPod(aPod({ key: "waiting", request: cpus(1) }));
    return sums;
  }

  it("drops the nodes that are not in the list, though pods still name them", () => {
    const sums = observed();
    sums.beginNodes();
    sums.putNode(aNode({ name: "node-2", allocatable: cpus(8) }));
    sums.putPod(aPod({ key: "d", nodeName: "node-1", request: cpus(1) }));
    sums.endNodes();
    expect(sums.totals()).toMatchObject({ allocatable: cpus(8), allocated: cpus(1) });
  });

  it("forgets nothing when a list breaks off and is begun again", () => {
    const sums = observed();
    sums.beginPods();
    sums.putPod(aPod({ key: "a", nodeName: "node-1", request: cpus(1) }));
    sums.beginPods();
    expect(sums.totals()).toMatchObject({ allocated: cpus(3) });
    sums.removePod("a");
    sums.putPod(aPod({ key: "b", nodeName: "node-1", request: cpus(1) }));
    sums.endPods();
    expect(sums.totals()).toMatchObject({ allocated: cpus(1) });
  });
});

describe("an API server that names ever more", () => {
  it("pods is given up before they fill the memory, however often its list is begun again", () => {
    const sums = clusterSums();
    const put = (count: number): void => sums.putPod(aPod({ key: `pod-${count}` }));
    sums.beginPods();
    for (let count = 0; count < 300_000; count++) put(count);
    sums.beginPods();
    for (let count = 300_000; count < 500_000; count++) put(count);
    expect(() => put(500_000)).toThrow("more than 500000 pods");
    put(7);
    sums.beginPods();
    sums.endPods();
    put(500_000);
  });

  it("nodes is given up, too", () => {
    const sums = clusterSums();
    for (let count = 0; count < 500_000; count++) sums.putNode(aNode({ name: `node-${count}` }));
    expect(() => sums.putNode(aNode({ name: "node-500000" }))).toThrow("more than 500000 nodes");
  });
});

describe("after any sequence of events", () => {
  it("the sums equal a recount from scratch", () => {
    fc.assert(
      fc.property(steps, (events) => {
        const sums = clusterSums();
        const model = emptyModel();
        for (const step of events) {
          step(sums, model);
          expect(sums.totals()).toEqual(recount(model));
        }
      }),
      { numRuns: 300 },
    );
  });
});
