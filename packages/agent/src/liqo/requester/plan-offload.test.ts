import { describe, expect, test } from "vitest";
import type { Offload } from "../../data-plane/data-plane.ts";
import type { NamespaceOffloading } from "../objects.ts";
import type { DesiredVirtualNode } from "./desired-virtual-node.ts";
import { claimantsOf, closedFor, closedProvider, planOffload, withoutClaim } from "./plan-offload.ts";
import { aDesiredVirtualNode } from "./testing/samples.ts";

const shop: Offload = { namespaces: ["shop"] };
const desired = aDesiredVirtualNode({}, shop);
const oslo = { id: "rsv-rome-other", targetClusterID: "oslo", targetLiqoID: "wild-oslo" };
const other = aDesiredVirtualNode(oslo, shop);

const at = (offloading?: NamespaceOffloading, isThere = true) => [{ namespace: "shop", isThere, offloading }];
/** What is written for a reservation, where this is found. */
function written(by: DesiredVirtualNode, found?: NamespaceOffloading): NamespaceOffloading {
  const [write] = planOffload(by, at(found))?.writes ?? [];
  if (write === undefined || !("object" in write)) throw new Error("nothing is written");
  return write.object as NamespaceOffloading;
}
function closed(offloading: NamespaceOffloading, id: string): NamespaceOffloading {
  const found = closedFor(offloading, id);
  if (found === undefined) throw new Error("it stays as it is");
  return found;
}
const first = written(desired);
const both = written(other, first);
const values = ({ spec }: NamespaceOffloading) =>
  spec.clusterSelector?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values;

describe("the offloading of a namespace", () => {
  test("lets its pods run at the provider, and there only", () => {
    const rule = { key: "liqo.io/remote-cluster-id", operator: "In", values: ["calm-paris"] };
    expect(first).toMatchObject({
      metadata: { name: "offloading", namespace: "shop" },
      spec: {
        namespaceMappingStrategy: "DefaultName",
        podOffloadingStrategy: "LocalAndRemote",
        clusterSelector: { nodeSelectorTerms: [{ matchExpressions: [rule] }] },
      },
    });
    expect(planOffload(desired, at(first))).toMatchObject({ reason: "AwaitingOffloading" });
    expect(planOffload(aDesiredVirtualNode(), [])).toBeUndefined();
  });

  const since = "2026-07-01T10:00:00Z";
  const ready = (status: "True" | "False") => [{ type: "Ready", status, lastTransitionTime: since } as const];
  const ELSEWHERE = { "calm-paris": ready("True"), "wild-oslo": ready("False") };
  const observed = { observedGeneration: 2 };
  test.each<[string, NamespaceOffloading["status"], object | undefined]>([
    ["Liqo says that it is there", { ...observed, offloadingPhase: "Ready" }, undefined],
    ["Liqo has not looked at the change", { observedGeneration: 1, offloadingPhase: "Ready" }, {}],
    ["Liqo is at it", { ...observed, offloadingPhase: "InProgress" }, {}],
    ["it is not at another provider", { ...observed, remoteNamespacesConditions: ELSEWHERE }, undefined],
    [
      "it is at another provider only",
      { ...observed, remoteNamespacesConditions: { "calm-paris": ready("False") } },
      { since },
    ],
  ])("can be used, or not yet: %s", (_, status, pending) => {
    const seen = { ...first, metadata: { ...first.metadata, generation: 2 }, ...(status && { status }) };
    const step = planOffload(desired, at(seen));
    if (pending === undefined) expect(step).toBeUndefined();
    else expect(step).toMatchObject({ kind: "wait", ...pending });
  });

  test("is shared by the reservations that ask for it, and goes with the last", () => {
    expect(values(both)).toEqual(["calm-paris", "wild-oslo"]);
    expect(claimantsOf(both)).toEqual([desired.id, other.id].sort());
    const rest = withoutClaim(both, desired.id);
    expect(rest && values(rest)).toEqual(["wild-oslo"]);
    expect(rest && withoutClaim(rest, other.id)).toBeUndefined();
  });

  test("keeps what others wrote on it, and has no claims of ours where a person made it", () => {
    const annotations = { ...first.metadata.annotations, a: "b" };
    const metadata = { ...first.metadata, resourceVersion: "7", annotations };
    expect(written(other, { ...first, metadata }).metadata).toMatchObject({
      resourceVersion: "7",
      annotations: { a: "b" },
    });
    expect(claimantsOf({ ...first, metadata: { ...first.metadata, labels: {} } })).toEqual([]);
  });

  const metadata = { ...first.metadata, deletionTimestamp: "2026-07-01T09:00:00Z" };
  const remote = { ...first, spec: { ...first.spec, podOffloadingStrategy: "Remote" } } as const;
  test.each<[string, ReturnType<typeof at>, string]>([
    [
      "a person made it",
      at({ ...first, metadata: { name: "offloading", namespace: "shop" } }),
      "OffloadingConflict",
    ],
    ["others want another strategy", at(remote), "OffloadingConflict"],
    ["an earlier one is going", at({ ...first, metadata }), "OffloadingTerminating"],
    ["the namespace is not there", at(undefined, false), "NamespaceMissing"],
  ])("is left alone, with a reason, when %s", (_, found, reason) => {
    expect(planOffload(desired, found)).toMatchObject({ isStalled: true, reason });
  });

  test("of one namespace does not wait for another's obstacle", () => {
    const two = aDesiredVirtualNode({}, { namespaces: ["gone", "shop"] });
    const gone = { namespace: "gone", isThere: false, offloading: undefined };
    expect(planOffload(two, [gone, ...at()])).toMatchObject({ kind: "act" });
    expect(planOffload(two, [gone, ...at(first)])).toMatchObject({ reason: "NamespaceMissing" });
  });
});

describe("the offloading whose last reservation at a provider ends", () => {
  const local = closed(first, desired.id);

  test("sends new pods nowhere when it was the only one, and keeps the namespace there until its pods have ended", () => {
    expect(local.spec).toEqual({ ...first.spec, podOffloadingStrategy: "Local" });
    expect([claimantsOf(local), closedProvider(local, desired.id)]).toEqual([[desired.id], "calm-paris"]);
    expect(closedFor(local, desired.id)).toBeUndefined();
    expect(withoutClaim(local, desired.id)).toBeUndefined();
  });

  test("sends new pods to the others", () => {
    const rest = closed(both, desired.id);
    expect([values(rest), rest.spec.podOffloadingStrategy]).toEqual([["wild-oslo"], "LocalAndRemote"]);
    expect(claimantsOf(rest)).toEqual([desired.id, other.id].sort());
    expect(claimantsOf(withoutClaim(rest, desired.id) ?? rest)).toEqual([other.id]);
  });

  test("stays as it is where another reservation at the same provider needs it", () => {
    const shared = written(aDesiredVirtualNode({ id: "rsv-rome-second" }, shop), first);
    expect([closedFor(shared, desired.id), closedProvider(shared, desired.id)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("opens again for a new reservation, whatever it asks for, and for one that lives again", () => {
    const fresh = aDesiredVirtualNode({ id: "rsv-rome-new" }, { ...shop, podOffloadingStrategy: "Remote" });
    const reopened = written(fresh, local);
    expect([values(reopened), reopened.spec.podOffloadingStrategy]).toEqual([["calm-paris"], "Remote"]);
    expect(closedProvider(reopened, desired.id)).toBeUndefined();
    expect(claimantsOf(withoutClaim(reopened, desired.id) ?? local)).toEqual([fresh.id]);
    const back = written(desired, local);
    expect([back.spec, closedProvider(back, desired.id)]).toEqual([first.spec, undefined]);
  });

  test("is left to the last of several that end at once", () => {
    const rest = withoutClaim(closed(closed(both, desired.id), other.id), desired.id);
    expect(rest?.spec.podOffloadingStrategy).toBe("Local");
    expect(rest && [claimantsOf(rest), closedProvider(rest, other.id)]).toEqual([[other.id], "wild-oslo"]);
  });
});
