import { NO_RESOURCES } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ClusterSums, clusterSums } from "./cluster-sums.ts";
import { emptyModel, recount, steps } from "./testing/cluster-model.ts";
import { aGuest, aNode, aPod, cpus } from "./testing/facts.ts";

const RSV = "rsv-rome-abc";
const NOTHING_SHOWN = { pods: 0, request: NO_RESOURCES, reasons: {} };

describe("cluster sums", () => {
  it("of an empty cluster are nothing", () => {
    expect(clusterSums().totals()).toEqual({
      capacity: NO_RESOURCES,
      allocatable: NO_RESOURCES,
      allocated: NO_RESOURCES,
      nodeShapes: [],
      usage: [],
      pendingShown: NOTHING_SHOWN,
    });
  });

  it("count pods that are seen before their node", () => {
    const sums = clusterSums();
    sums.putPod(aPod({ nodeName: "node-1", request: cpus(2) }));
    expect(sums.totals().allocated).toEqual(NO_RESOURCES);
    sums.putNode(aNode({ name: "node-1", capacity: cpus(5), allocatable: cpus(4) }));
    expect(sums.totals()).toMatchObject({ capacity: cpus(5), allocatable: cpus(4), allocated: cpus(2) });
  });

  it("drop a node's pods with it when it is cordoned, and take both back", () => {
    const sums = clusterSums();
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(4) }));
    sums.putNode(aNode({ name: "node-2", allocatable: cpus(8) }));
    sums.putPod(aPod({ key: "a", nodeName: "node-1", request: cpus(1) }));
    sums.putPod(aPod({ key: "b", nodeName: "node-2", request: cpus(2) }));
    sums.putNode(aNode({ name: "node-2", allocatable: cpus(8), unschedulable: true }));
    expect(sums.totals()).toMatchObject({ allocatable: cpus(4), allocated: cpus(1) });
    sums.putPod(aPod({ key: "b", nodeName: "node-2", request: cpus(3) }));
    sums.putNode(aNode({ name: "node-2", allocatable: cpus(8) }));
    expect(sums.totals()).toMatchObject({ allocatable: cpus(12), allocated: cpus(4) });
  });

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

  it("keep the pods of a deleted node for its return", () => {
    const sums = clusterSums();
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(4) }));
    sums.putPod(aPod({ nodeName: "node-1", request: cpus(1) }));
    sums.removeNode("node-1");
    expect(sums.totals()).toMatchObject({ allocatable: NO_RESOURCES, allocated: NO_RESOURCES });
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(2) }));
    expect(sums.totals()).toMatchObject({ allocatable: cpus(2), allocated: cpus(1) });
  });

  it("move a guest's pods to its reservation while that lives, and back when it has ended", () => {
    const sums = clusterSums();
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(8) }));
    sums.putPod(aPod({ key: "guest", nodeName: "node-1", request: cpus(2), guest: aGuest(RSV) }));
    sums.putPod(aPod({ key: "waiting", request: cpus(1), guest: aGuest(RSV) }));
    sums.putPod(aPod({ key: "own", nodeName: "node-1", request: cpus(1) }));
    expect(sums.totals()).toMatchObject({ allocated: cpus(4), usage: [] });
    sums.putReservation({ id: RSV });
    sums.putReservation({ id: "rsv-oslo-xyz" });
    expect(sums.totals()).toMatchObject({
      allocated: cpus(1),
      usage: [
        { reservationId: "rsv-oslo-xyz", used: NO_RESOURCES },
        { reservationId: RSV, used: cpus(3) },
      ],
    });
    sums.removeReservation(RSV);
    expect(sums.totals().allocated).toEqual(cpus(4));
  });

  it("keep apart waiting guests that name the same slice but come from different clusters", () => {
    const sums = clusterSums();
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(8) }));
    sums.putReservation({ id: RSV, origin: "rome-liqo" });
    sums.putPod(aPod({ key: "honest", request: cpus(1), guest: aGuest(RSV, "rome-liqo") }));
    sums.putPod(aPod({ key: "stranger", request: cpus(1), guest: aGuest(RSV, "oslo-liqo") }));
    expect(sums.totals()).toMatchObject({
      allocated: cpus(1),
      usage: [{ reservationId: RSV, used: cpus(1) }],
    });
  });

  it("count a waiting pod once a node appears that could hold it", () => {
    const sums = clusterSums();
    sums.putNode(aNode({ name: "small", allocatable: cpus(2) }));
    sums.putPod(aPod({ key: "a", request: cpus(4) }));
    sums.putPod(aPod({ key: "b", request: cpus(4) }));
    sums.putPod(aPod({ key: "c", gated: true, request: cpus(1) }));
    expect(sums.totals()).toMatchObject({
      allocated: NO_RESOURCES,
      pendingShown: { pods: 3, request: cpus(9), reasons: { "fits-no-node": 2, gated: 1 } },
    });
    sums.putNode(aNode({ name: "large", allocatable: cpus(4) }));
    expect(sums.totals()).toMatchObject({ allocated: cpus(8), pendingShown: { pods: 1 } });
    sums.removeNode("large");
    expect(sums.totals().allocated).toEqual(NO_RESOURCES);
  });

  it("let go of a pod that ends where it ran", () => {
    const sums = clusterSums();
    sums.putNode(aNode({ name: "node-1", allocatable: cpus(4) }));
    const pod = aPod({ nodeName: "node-1", request: cpus(1) });
    sums.putPod(pod);
    sums.putPod({ ...pod, terminal: true });
    expect(sums.totals().allocated).toEqual(NO_RESOURCES);
  });

  it("do not change when the same event comes twice", () => {
    const sums = clusterSums();
    for (const _ of [1, 2]) {
      sums.putNode(aNode({ name: "node-1", allocatable: cpus(4) }));
      sums.putPod(aPod({ nodeName: "node-1", request: cpus(1) }));
    }
    expect(sums.totals()).toMatchObject({ allocatable: cpus(4), allocated: cpus(1) });
    for (const _ of [1, 2]) {
      sums.removePod("default/pod-1");
      sums.removeNode("node-1");
    }
    expect(sums.totals()).toEqual(clusterSums().totals());
    expect([...sums.nodes()]).toEqual([]);
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

  it("drops the pods that are not in the list, and only at its end", () => {
    const sums = observed();
    sums.beginPods();
    sums.putPod(aPod({ key: "b", nodeName: "node-1", request: cpus(1) }));
    sums.putPod(aPod({ key: "c", nodeName: "node-2", request: cpus(1) }));
    expect(sums.totals()).toMatchObject({ allocated: cpus(4) });
    sums.endPods();
    expect(sums.totals()).toMatchObject({ allocated: cpus(2), allocatable: cpus(16) });
  });

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

  it("removing everything leaves nothing", () => {
    fc.assert(
      fc.property(steps, (events) => {
        const sums = clusterSums();
        const model = emptyModel();
        for (const step of events) step(sums, model);
        for (const name of model.nodes.keys()) sums.removeNode(name);
        for (const key of model.pods.keys()) sums.removePod(key);
        for (const id of model.reservations.keys()) sums.removeReservation(id);
        expect(sums.totals()).toEqual(clusterSums().totals());
        expect([...sums.nodes()]).toEqual([]);
      }),
    );
  });
});
