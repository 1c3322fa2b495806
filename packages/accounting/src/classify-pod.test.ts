import { describe, expect, it } from "vitest";
import { classifyPod, type PodClass } from "./classify-pod.ts";
import { clusterSums } from "./cluster-sums.ts";
import type { PodFacts } from "./pod.ts";
import { aGuest, aNode, aPod, cpus } from "./testing/facts.ts";

const RSV = "rsv-rome-abc";

function cluster() {
  const sums = clusterSums();
  sums.putNode(aNode({ name: "small", allocatable: cpus(4) }));
  sums.putNode(aNode({ name: "large", allocatable: cpus(16) }));
  sums.putNode(aNode({ name: "cordoned", allocatable: cpus(64), unschedulable: true }));
  sums.putNode(aNode({ name: "borrowed", allocatable: cpus(64), virtual: true }));
  sums.putReservation({ id: RSV, origin: "rome-liqo" });
  sums.putReservation({ id: "rsv-oslo-xyz" });
  return sums;
}

const guestOf = (reservationId: string, origin?: string): PodClass => ({
  kind: "guest",
  ...aGuest(reservationId, origin),
});
const shown = (reason: Extract<PodClass, { kind: "pending-shown" }>["reason"]): PodClass => ({
  kind: "pending-shown",
  reason,
});
const ignored = (reason: Extract<PodClass, { kind: "ignored" }>["reason"]): PodClass => ({
  kind: "ignored",
  reason,
});
const ALLOCATED: PodClass = { kind: "allocated" };
const COUNTED: PodClass = { kind: "pending-counted" };

const ROWS: readonly (readonly [string, Partial<PodFacts>, PodClass])[] = [
  ["a pod on a counted node is allocated", { nodeName: "small" }, ALLOCATED],
  ["a gated flag means nothing once the pod is bound", { nodeName: "small", gated: true }, ALLOCATED],
  [
    "a pod larger than its node is allocated all the same",
    { nodeName: "small", request: cpus(9) },
    ALLOCATED,
  ],
  ["a pod that has ended is ignored", { nodeName: "small", terminal: true }, ignored("terminal")],
  ["a waiting pod that has ended is ignored", { terminal: true }, ignored("terminal")],
  [
    "a pod on a virtual node is ignored: it runs elsewhere",
    { nodeName: "borrowed" },
    ignored("on-virtual-node"),
  ],
  [
    "a pod on a cordoned node is ignored with its node",
    { nodeName: "cordoned" },
    ignored("on-uncounted-node"),
  ],
  ["a pod on a node not yet seen is ignored until it is", { nodeName: "new" }, ignored("on-unknown-node")],

  ["a guest of a live reservation is its use", { nodeName: "small", guest: aGuest(RSV) }, guestOf(RSV)],
  [
    "a guest of a reservation of unknown origin is its use",
    { nodeName: "small", guest: aGuest("rsv-oslo-xyz", "oslo") },
    guestOf("rsv-oslo-xyz", "oslo"),
  ],
  [
    "a guest without a live reservation is allocated",
    { nodeName: "small", guest: aGuest("rsv-rome-old") },
    ALLOCATED,
  ],
  [
    "a guest from another cluster than the requester is allocated",
    { nodeName: "small", guest: aGuest(RSV, "mallory") },
    ALLOCATED,
  ],
  [
    "a guest on an uncounted node is ignored",
    { nodeName: "cordoned", guest: aGuest(RSV) },
    ignored("on-uncounted-node"),
  ],
  [
    "a waiting guest that would fit is its reservation's use",
    { request: cpus(4), guest: aGuest(RSV) },
    guestOf(RSV),
  ],
  [
    "a waiting guest without a live reservation counts like any pod",
    { request: cpus(4), guest: aGuest("gone") },
    COUNTED,
  ],
  [
    "a waiting guest that fits nowhere is shown",
    { request: cpus(20), guest: aGuest(RSV) },
    shown("fits-no-node"),
  ],
  [
    "a guest that has ended is ignored",
    { nodeName: "small", guest: aGuest(RSV), terminal: true },
    ignored("terminal"),
  ],

  ["a waiting pod that fits an empty node counts", { request: cpus(4) }, COUNTED],
  ["a waiting pod that fits only the largest node counts", { request: cpus(16) }, COUNTED],
  ["a waiting pod that asks for nothing counts", {}, COUNTED],
  ["a waiting pod that fits only an uncounted node is shown", { request: cpus(17) }, shown("fits-no-node")],
  [
    "a waiting pod that wants a virtual node is shown",
    { selectsVirtualNode: true },
    shown("selects-virtual-node"),
  ],
  [
    "a waiting pod that asks for more than can be counted is shown",
    { unreadable: true },
    shown("unreadable"),
  ],
  ["a gated pod is shown", { gated: true, selectsVirtualNode: true }, shown("gated")],
  [
    "a pod tied to a counted node that could hold it counts",
    { pinnedNode: "small", request: cpus(4) },
    COUNTED,
  ],
  [
    "a pod tied to a counted node too small for it is shown",
    { pinnedNode: "small", request: cpus(5) },
    shown("fits-no-node"),
  ],
  ["a pod tied to a virtual node is shown", { pinnedNode: "borrowed" }, shown("pinned-to-uncounted-node")],
  ["a pod tied to a cordoned node is shown", { pinnedNode: "cordoned" }, shown("pinned-to-uncounted-node")],
  [
    "a pod tied to a node not yet seen counts like any pod",
    { pinnedNode: "new", request: cpus(16) },
    COUNTED,
  ],
];

describe("classifying pods", () => {
  it.each(ROWS)("%s", (_, facts, expected) => {
    expect(classifyPod(aPod(facts), cluster())).toEqual(expected);
  });

  it("without a counted node every waiting pod is shown", () => {
    expect(classifyPod(aPod(), clusterSums())).toEqual(shown("fits-no-node"));
  });
});
