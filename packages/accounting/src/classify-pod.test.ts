import { isZero, NO_RESOURCES } from "@resource-broker/base";
import { describe, expect, it } from "vitest";
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

/** Where a pod that asks for a CPU, unless it says otherwise, is counted or shown. */
function placeOf(facts: Partial<PodFacts>, sums = cluster()): string {
  sums.putPod(aPod({ request: cpus(1), ...facts }));
  const { allocated, usage, pendingShown } = sums.totals();
  const used = usage
    .filter((each) => !isZero(each.used))
    .map(({ reservationId }) => `use of ${reservationId}`);
  const reasons = Object.keys(pendingShown.reasons).map((reason) => `shown: ${reason}`);
  return [...(isZero(allocated) ? [] : [OWN]), ...used, ...reasons].join(", ") || IGNORED;
}

const OWN = "own load";
const IGNORED = "ignored";
const USE = `use of ${RSV}`;

const ROWS: readonly (readonly [string, Partial<PodFacts>, string])[] = [
  ["a pod on a counted node is allocated", { nodeName: "small" }, OWN],
  ["a gated flag means nothing once the pod is bound", { nodeName: "small", gated: true }, OWN],
  ["a pod larger than its node is allocated all the same", { nodeName: "small", request: cpus(9) }, OWN],
  ["a pod that has ended is ignored", { nodeName: "small", terminal: true }, IGNORED],
  ["a waiting pod that has ended is ignored", { terminal: true }, IGNORED],
  ["a pod on a virtual node is ignored: it runs elsewhere", { nodeName: "borrowed" }, IGNORED],
  ["a pod on a cordoned node is ignored with its node", { nodeName: "cordoned" }, IGNORED],
  ["a pod on a node not yet seen is ignored until it is", { nodeName: "new" }, IGNORED],

  ["a guest of a live reservation is its use", { nodeName: "small", guest: aGuest(RSV) }, USE],
  [
    "a guest of a reservation of unknown origin is its use",
    { nodeName: "small", guest: aGuest("rsv-oslo-xyz", "oslo") },
    "use of rsv-oslo-xyz",
  ],
  [
    "a guest without a live reservation is allocated",
    { nodeName: "small", guest: aGuest("rsv-rome-old") },
    OWN,
  ],
  [
    "a guest from another cluster than the requester is allocated",
    { nodeName: "small", guest: aGuest(RSV, "mallory") },
    OWN,
  ],
  ["a guest on an uncounted node is ignored", { nodeName: "cordoned", guest: aGuest(RSV) }, IGNORED],
  ["a waiting guest that would fit is its reservation's use", { request: cpus(4), guest: aGuest(RSV) }, USE],
  [
    "a waiting guest without a live reservation counts like any pod",
    { request: cpus(4), guest: aGuest("gone") },
    OWN,
  ],
  [
    "a waiting guest that fits nowhere is shown",
    { request: cpus(20), guest: aGuest(RSV) },
    "shown: fits-no-node",
  ],
  ["a guest that has ended is ignored", { nodeName: "small", guest: aGuest(RSV), terminal: true }, IGNORED],

  ["a waiting pod that fits an empty node counts", { request: cpus(4) }, OWN],
  ["a waiting pod that fits only the largest node counts", { request: cpus(16) }, OWN],
  ["a waiting pod that asks for nothing is not shown", { request: NO_RESOURCES }, IGNORED],
  ["a waiting pod that fits only an uncounted node is shown", { request: cpus(17) }, "shown: fits-no-node"],
  [
    "a waiting pod that wants a virtual node is shown",
    { selectsVirtualNode: true },
    "shown: selects-virtual-node",
  ],
  [
    "a waiting pod that asks for more than can be counted is shown",
    { unreadable: true },
    "shown: unreadable",
  ],
  ["a gated pod is shown", { gated: true, selectsVirtualNode: true }, "shown: gated"],
  ["a pod tied to a counted node that could hold it counts", { pinnedNode: "small", request: cpus(4) }, OWN],
  [
    "a pod tied to a counted node too small for it is shown",
    { pinnedNode: "small", request: cpus(5) },
    "shown: fits-no-node",
  ],
  ["a pod tied to a virtual node is shown", { pinnedNode: "borrowed" }, "shown: pinned-to-uncounted-node"],
  ["a pod tied to a cordoned node is shown", { pinnedNode: "cordoned" }, "shown: pinned-to-uncounted-node"],
  ["a pod tied to a node not yet seen counts like any pod", { pinnedNode: "new", request: cpus(16) }, OWN],
];

describe("classifying pods", () => {
  it.each(ROWS)("%s", (_, facts, expected) => {
    expect(placeOf(facts)).toBe(expected);
  });

  it("without a counted node every waiting pod is shown", () => {
    expect(placeOf({}, clusterSums())).toBe("shown: fits-no-node");
  });
});
