import { describe, expect, test } from "vitest";
import type { Offload } from "../../data-plane/data-plane.ts";
import type { NamespaceOffloading } from "../objects/offloading.ts";
import { claimantsOf, closedFor, closedProvider, planOffload, withoutClaim } from "./plan-offload.ts";
import { aDesiredVirtualNode } from "./testing/samples.ts";

const shop: Offload = { namespaces: ["shop"] };
const desired = aDesiredVirtualNode({}, shop);
const other = aDesiredVirtualNode(
  { id: "rsv-rome-other", targetClusterID: "oslo", targetLiqoID: "wild-oslo" },
  shop,
);

function written(step: ReturnType<typeof planOffload>): NamespaceOffloading {
  if (step.kind !== "write") throw new Error(step.kind);
  return step.offloading;
}
const at = (offloading?: NamespaceOffloading, isThere = true) => [{ namespace: "shop", isThere, offloading }];
const first = written(planOffload(desired, at()));
const values = ({ spec }: NamespaceOffloading) =>
  spec.clusterSelector?.nodeSelectorTerms[0]?.matchExpressions?.[0]?.values;

describe("the offloading of a namespace", () => {
  test("lets its pods run at the provider, and there only", () => {
    expect(planOffload(desired, at())).toMatchObject({
      kind: "write",
      how: "create",
      offloading: {
        metadata: { name: "offloading", namespace: "shop" },
        spec: {
          namespaceMappingStrategy: "DefaultName",
          podOffloadingStrategy: "LocalAndRemote",
          clusterSelector: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: "liqo.io/remote-cluster-id", operator: "In", values: ["calm-paris"] },
                ],
              },
            ],
          },
        },
      },
    });
    expect(planOffload(desired, at(first))).toMatchObject({ kind: "pending" });
    expect(planOffload(aDesiredVirtualNode(), [])).toEqual({ kind: "done" });
  });

  const since = "2026-07-01T10:00:00Z";
  const ready = (status: "True" | "False") => [{ type: "Ready", status, lastTransitionTime: since } as const];
  const isDone = { kind: "done" };
  const isPending = { kind: "pending", message: expect.stringContaining("shop does not exist yet at paris") };
  test.each<[string, NamespaceOffloading["status"], object]>([
    ["Liqo says that it is there", { observedGeneration: 2, offloadingPhase: "Ready" }, isDone],
    ["Liqo has not looked at the change", { observedGeneration: 1, offloadingPhase: "Ready" }, isPending],
    ["Liqo is at it", { observedGeneration: 2, offloadingPhase: "InProgress" }, isPending],
    [
      "it is there, and not at another provider",
      {
        observedGeneration: 2,
        offloadingPhase: "SomeFailed",
        remoteNamespacesConditions: { "calm-paris": ready("True"), "wild-oslo": ready("False") },
      },
      isDone,
    ],
    [
      "it is at another provider only",
      { observedGeneration: 2, remoteNamespacesConditions: { "calm-paris": ready("False") } },
      { ...isPending, since },
    ],
  ])("can be used, or not yet: %s", (_, status, expected) => {
    const seen = { ...first, metadata: { ...first.metadata, generation: 2 }, ...(status && { status }) };
    expect(planOffload(desired, at(seen))).toMatchObject(expected);
  });

  test("is shared by the reservations that ask for it, and goes with the last", () => {
    const both = written(planOffload(other, at(first)));
    expect(values(both)).toEqual(["calm-paris", "wild-oslo"]);
    expect(claimantsOf(both)).toEqual([desired.id, other.id].sort());
    const rest = withoutClaim(both, desired.id);
    expect(rest && values(rest)).toEqual(["wild-oslo"]);
    expect(rest && withoutClaim(rest, other.id)).toBeUndefined();
  });

  describe("whose last reservation at a provider ends", () => {
    const closed = (offloading: NamespaceOffloading, id: string): NamespaceOffloading => {
      const found = closedFor(offloading, id);
      if (found === undefined) throw new Error("it stays as it is");
      return found;
    };

    test("sends new pods nowhere when it was the only one, and keeps the namespace there until its pods have ended", () => {
      const local = closed(first, desired.id);
      expect(local.spec).toEqual({ ...first.spec, podOffloadingStrategy: "Local" });
      expect([claimantsOf(local), closedProvider(local, desired.id)]).toEqual([[desired.id], "calm-paris"]);
      expect(closedFor(local, desired.id)).toBeUndefined();
      expect(withoutClaim(local, desired.id)).toBeUndefined();
    });

    test("sends new pods to the others", () => {
      const both = written(planOffload(other, at(first)));
      const rest = closed(both, desired.id);
      expect([values(rest), rest.spec.podOffloadingStrategy]).toEqual([["wild-oslo"], "LocalAndRemote"]);
      expect(claimantsOf(rest)).toEqual([desired.id, other.id].sort());
      expect(claimantsOf(withoutClaim(rest, desired.id) ?? rest)).toEqual([other.id]);
    });

    test("stays as it is where another reservation at the same provider needs it", () => {
      const second = aDesiredVirtualNode({ id: "rsv-rome-second" }, shop);
      const both = written(planOffload(second, at(first)));
      expect(closedFor(both, desired.id)).toBeUndefined();
      expect(closedProvider(both, desired.id)).toBeUndefined();
    });

    test("opens again for a new reservation, whatever it asks for, and for one that lives again", () => {
      const local = closed(first, desired.id);
      const remote = aDesiredVirtualNode(
        { id: "rsv-rome-new" },
        { ...shop, podOffloadingStrategy: "Remote" },
      );
      const reopened = written(planOffload(remote, at(local)));
      expect([values(reopened), reopened.spec.podOffloadingStrategy]).toEqual([["calm-paris"], "Remote"]);
      expect(closedProvider(reopened, desired.id)).toBeUndefined();
      expect(claimantsOf(withoutClaim(reopened, desired.id) ?? local)).toEqual([remote.id]);
      const back = written(planOffload(desired, at(local)));
      expect([back.spec, closedProvider(back, desired.id)]).toEqual([first.spec, undefined]);
    });

    test("is left to the last of several that end at once", () => {
      const both = written(planOffload(other, at(first)));
      const ending = closed(closed(both, desired.id), other.id);
      const rest = withoutClaim(ending, desired.id);
      expect(rest?.spec.podOffloadingStrategy).toBe("Local");
      expect(rest && [claimantsOf(rest), closedProvider(rest, other.id)]).toEqual([[other.id], "wild-oslo"]);
    });
  });

  test("keeps what others wrote on it", () => {
    const annotated = {
      ...first,
      metadata: {
        ...first.metadata,
        resourceVersion: "7",
        annotations: { ...first.metadata.annotations, a: "b" },
      },
    };
    const both = written(planOffload(other, at(annotated)));
    expect(both.metadata).toMatchObject({ resourceVersion: "7", annotations: { a: "b" } });
  });

  test.each<[string, ReturnType<typeof at>, string]>([
    [
      "a person made it",
      at({ ...first, metadata: { name: "offloading", namespace: "shop" } }),
      "OffloadingConflict",
    ],
    [
      "others want another strategy",
      at({ ...first, spec: { ...first.spec, podOffloadingStrategy: "Remote" } }),
      "OffloadingConflict",
    ],
    [
      "an earlier one is going",
      at({ ...first, metadata: { ...first.metadata, deletionTimestamp: "2026-07-01T09:00:00Z" } }),
      "OffloadingTerminating",
    ],
    ["the namespace is not there", at(undefined, false), "NamespaceMissing"],
  ])("is left alone, with a reason, when %s", (_, observed, reason) => {
    expect(planOffload(desired, observed)).toMatchObject({ kind: "obstacle", reason });
  });

  test("of one namespace does not wait for another's obstacle", () => {
    const two = aDesiredVirtualNode({}, { namespaces: ["gone", "shop"] });
    const observed = [{ namespace: "gone", isThere: false, offloading: undefined }, ...at()];
    expect(planOffload(two, observed)).toMatchObject({ kind: "write" });
    const done = written(planOffload(two, observed));
    expect(planOffload(two, [...observed.slice(0, 1), ...at(done)])).toMatchObject({
      reason: "NamespaceMissing",
    });
  });

  test("that a person made has no claims of ours, whatever it says", () => {
    expect(claimantsOf({ ...first, metadata: { ...first.metadata, labels: {} } })).toEqual([]);
  });
});
