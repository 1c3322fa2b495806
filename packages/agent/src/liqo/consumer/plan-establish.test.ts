import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXPIRES_AT_ANNOTATION } from "../objects/labels.ts";
import { expiryChange } from "./forge-slice.ts";
import { type EstablishStep, type LoanSight, planEstablish } from "./plan-establish.ts";
import { aForeignCluster, aMarker, aNode, aSlice, aVirtualNode, aWish, NOW } from "./testing/samples.ts";

const wish = aWish();
const { id } = wish;
const accepted = { authentication: "Accepted", resources: "Accepted" } as const;

const VIRTUAL_NODE = aVirtualNode(wish);
/** Everything is as it should be. */
const GOOD: LoanSight = {
  foreignCluster: aForeignCluster("Provider"),
  marker: aMarker([id]),
  job: { kind: "none" },
  slice: aSlice(wish, accepted),
  virtualNode: VIRTUAL_NODE,
  node: aNode(wish),
  offload: { kind: "done" },
  wallMs: NOW,
};
const NOT_PEERED = { foreignCluster: undefined, slice: undefined, virtualNode: undefined, node: undefined };
const failed = {
  kind: "failed",
  job: "peer",
  obstacle: { reason: "KubeconfigMissing", message: "there is none" },
  times: 1,
  retryInMs: 5000,
} as const;
const plan = (changes: Partial<LoanSight>): EstablishStep => planEstablish(wish, { ...GOOD, ...changes });

describe("a loan that comes in", () => {
  test.each<[string, Partial<LoanSight>, object]>([
    ["is ready when all objects say so", {}, { kind: "ready" }],
    ["is written down before anything is peered", { ...NOT_PEERED, marker: undefined }, { kind: "claim" }],
    ["joins a peering of this agent", { marker: aMarker(["rsv-other"]) }, { kind: "claim" }],
    ["needs no claim on a peering that a person made", { marker: undefined }, { kind: "ready" }],
    ["peers", NOT_PEERED, { kind: "peer" }],
    [
      "peers although Liqo knows the cluster from before",
      { ...NOT_PEERED, foreignCluster: aForeignCluster("Unknown") },
      { kind: "peer" },
    ],
    [
      "peers although the provider borrows here",
      { ...NOT_PEERED, foreignCluster: aForeignCluster("Consumer") },
      { kind: "peer" },
    ],
    [
      "uses a peering of both ways",
      { foreignCluster: aForeignCluster("ConsumerAndProvider") },
      { kind: "ready" },
    ],
    [
      "waits for liqoctl",
      { ...NOT_PEERED, job: { kind: "running", job: "peer", forMs: 1 } },
      { kind: "wait", reason: "Peering" },
    ],
    [
      "says why liqoctl failed",
      { ...NOT_PEERED, job: failed },
      { kind: "wait", reason: "KubeconfigMissing", isTrouble: true },
    ],
    ["tries again after a pause", { ...NOT_PEERED, job: { ...failed, retryInMs: 0 } }, { kind: "peer" }],
    [
      "does not believe liqoctl's exit code",
      { ...NOT_PEERED, job: { kind: "done", job: "peer", forMs: 1000 } },
      { kind: "wait", reason: "AwaitingPeering" },
    ],
    [
      "peers again when the objects never follow",
      { ...NOT_PEERED, job: { kind: "done", job: "peer", forMs: 60_000 } },
      { kind: "peer" },
    ],
    [
      "waits until an earlier peering is ended",
      { marker: aMarker(["rsv-other"], { isEnding: true }) },
      { kind: "wait", reason: "Unpeering" },
    ],
    [
      "opens the peering that was ended for it alone, when it lives again",
      { marker: aMarker([id], { isEnding: true }) },
      { kind: "reopen" },
    ],
    [
      "waits for liqoctl to unpeer",
      { job: { kind: "running", job: "force-unpeer", forMs: 1 } },
      { kind: "wait", reason: "Unpeering" },
    ],
    ["asks for a slice", { slice: undefined }, { kind: "create-slice" }],
    [
      "leaves a slice of others alone",
      { slice: { ...aSlice(wish), metadata: { name: id, namespace: "liqo-tenant-calm-paris" } } },
      { kind: "wait", reason: "SliceConflict", isTrouble: true },
    ],
    [
      "leaves a slice to another provider alone",
      { slice: { ...aSlice(wish), spec: { ...aSlice(wish).spec, providerClusterID: "oslo" } } },
      { kind: "wait", reason: "SliceConflict" },
    ],
    [
      "waits for an earlier slice to go",
      {
        slice: {
          ...aSlice(wish),
          metadata: { ...aSlice(wish).metadata, deletionTimestamp: "2026-07-01T09:00:00Z" },
        },
      },
      { kind: "wait", reason: "SliceTerminating" },
    ],
    ["waits to be let in", { slice: aSlice(wish) }, { kind: "wait", reason: "AwaitingAuthentication" }],
    [
      "is not let in",
      { slice: aSlice(wish, { authentication: "Denied" }) },
      { kind: "wait", reason: "AuthenticationDenied", isTrouble: true },
    ],
    [
      "waits for the grant",
      { slice: aSlice(wish, { authentication: "Accepted" }) },
      { kind: "wait", reason: "AwaitingGrant" },
    ],
    [
      "is denied",
      { slice: aSlice(wish, { authentication: "Accepted", resources: "Denied" }) },
      {
        kind: "wait",
        reason: "SliceDenied",
        isTrouble: true,
        message: expect.stringContaining("NoSuchReservation"),
      },
    ],
    [
      "is granted in part",
      { slice: aSlice(wish, { ...accepted, granted: { ...wish.resources, cpu: "1" } }) },
      {
        kind: "wait",
        reason: "PartialGrant",
        isTrouble: true,
        message: expect.stringContaining("cpu is 1 instead of 4"),
      },
    ],
    [
      "is granted in other words",
      {
        slice: aSlice(wish, { ...accepted, granted: { ...wish.resources, cpu: "4000m", memory: "8192Mi" } }),
      },
      { kind: "ready" },
    ],
    ["waits for Liqo", { virtualNode: undefined }, { kind: "wait", reason: "AwaitingVirtualNode" }],
    ["waits for the node", { node: undefined }, { kind: "wait", reason: "AwaitingNode" }],
    [
      "meets a real node of its name",
      { node: aNode(wish, { isVirtual: false }) },
      { kind: "wait", reason: "NodeConflict", isTrouble: true },
    ],
    [
      "has patience with a node that comes up",
      { node: aNode(wish, { ready: "False" }) },
      { kind: "wait", reason: "NodeNotReady" },
    ],
    [
      "has none with one that does not",
      { node: aNode(wish, { ready: "Unknown", since: "2026-07-01T09:00:00Z" }) },
      { kind: "wait", reason: "NodeNotReady", isTrouble: true },
    ],
    [
      "has a node of another size",
      { node: aNode(wish, { allocatable: { ...wish.resources, memory: "4Gi" } }) },
      { kind: "wait", reason: "NodeSizeDiffers", isTrouble: true },
    ],
    [
      "has a node with more than was reserved",
      { node: aNode(wish, { allocatable: { ...wish.resources, "nvidia.com/gpu": "1" } }) },
      { kind: "wait", reason: "NodeSizeDiffers", message: expect.stringContaining("nvidia.com/gpu is 1") },
    ],
    [
      "has a node of another provider",
      { node: aNode({ ...wish, liqoId: "calm-oslo" }) },
      { kind: "wait", reason: "NodeConflict", isTrouble: true },
    ],
    [
      "is not ready while its virtual node is being deleted",
      { virtualNode: { ...VIRTUAL_NODE, metadata: { ...VIRTUAL_NODE.metadata, deletionTimestamp: "x" } } },
      { kind: "wait", reason: "NodeTerminating" },
    ],
    [
      "cannot reach its provider",
      { foreignCluster: aForeignCluster("Provider", { isReachable: false }) },
      { kind: "wait", reason: "ProviderUnreachable", isTrouble: true },
    ],
    [
      "cannot be used by its pods",
      { offload: { kind: "obstacle", reason: "OffloadingConflict", message: "a person's" } },
      { kind: "wait", reason: "OffloadingConflict", isTrouble: true },
    ],
  ])("%s", (_, changes, expected) => {
    expect(plan(changes)).toMatchObject(expected);
  });

  test.each<[string, Partial<LoanSight>, string]>([
    ["AwaitingAuthentication", { slice: aSlice(wish) }, "Liqo at paris"],
    ["AwaitingGrant", { slice: aSlice(wish, { authentication: "Accepted" }) }, "agent of paris"],
    ["AwaitingVirtualNode", { virtualNode: undefined }, "Liqo in this cluster"],
    ["AwaitingNode", { node: undefined }, "liqo-tenant-calm-paris"],
  ])("says where to look when %s takes too long", (reason, changes, where) => {
    const { slice = aSlice(wish, accepted) } = changes;
    const old = { ...slice, metadata: { ...slice.metadata, creationTimestamp: "2026-07-01T09:50:00Z" } };
    expect(plan({ ...changes, slice: old })).toMatchObject({
      kind: "wait",
      reason,
      isTrouble: true,
      message: expect.stringContaining(where),
    });
  });

  test("is not in trouble while others just take their time", () => {
    for (const changes of [{ slice: aSlice(wish) }, { node: undefined }, { virtualNode: undefined }]) {
      expect(plan(changes)).not.toHaveProperty("isTrouble");
    }
  });

  test("tells of a renewal, and of an end to its end", () => {
    const renewed = aWish({ status: { phase: "Active", message: "", expiresAt: "2026-07-01T12:00:00Z" } });
    const telling = (expiresAt: string | null) => ({
      body: { metadata: { annotations: { [EXPIRES_AT_ANNOTATION]: expiresAt } } },
    });
    expect(expiryChange(aSlice(wish), renewed)).toMatchObject(telling("2026-07-01T12:00:00.000Z"));
    expect(expiryChange(aSlice(renewed), wish)).toMatchObject(telling(null));
    expect(expiryChange(aSlice(renewed), renewed)).toBeUndefined();
    expect(planEstablish(renewed, GOOD)).toMatchObject({ kind: "ready" });
  });

  test("takes back what somebody added to its slice", () => {
    const slice = aSlice(wish, accepted);
    const resources = { ...wish.resources, cpu: "16", "nvidia.com/gpu": "8" };
    expect(plan({ slice: { ...slice, spec: { ...slice.spec, resources } } })).toMatchObject({
      kind: "change-slice",
      patch: { body: { spec: { resources: { cpu: "4", "nvidia.com/gpu": null } } } },
    });
  });

  test("is never ready, peered or asked for on less than the whole truth", () => {
    const any = <T>(...values: readonly T[]) => fc.constantFrom(...values);
    const sight = fc.record({
      foreignCluster: any(
        undefined,
        aForeignCluster("Unknown"),
        aForeignCluster("Consumer"),
        aForeignCluster("Provider"),
        aForeignCluster("Provider", { isReachable: false }),
      ),
      marker: any(undefined, aMarker([id]), aMarker(["rsv-b"]), aMarker([id], { isEnding: true })),
      job: any<LoanSight["job"]>(
        { kind: "none" },
        { kind: "running", job: "peer", forMs: 1 },
        { kind: "running", job: "unpeer", forMs: 1 },
        { kind: "done", job: "peer", forMs: 1 },
        { kind: "done", job: "force-unpeer", forMs: 1 },
        failed,
      ),
      slice: any(
        undefined,
        aSlice(wish),
        aSlice(wish, accepted),
        aSlice(wish, { ...accepted, granted: { cpu: "4" } }),
        aSlice(wish, { ...accepted, resources: "Denied" }),
      ),
      virtualNode: any(undefined, aVirtualNode(wish)),
      node: any(undefined, aNode(wish), aNode(wish, { ready: "False" }), aNode(wish, { isVirtual: false })),
      offload: any<LoanSight["offload"]>({ kind: "done" }, { kind: "obstacle", reason: "X", message: "" }),
      wallMs: fc.constant(NOW),
    });
    fc.assert(
      fc.property(sight, (seen) => {
        const { kind } = planEstablish(wish, seen);
        if (kind === "peer") expect(mayPeer(seen)).toBe(true);
        if (kind === "create-slice") expect(isPeered(seen) && seen.slice === undefined).toBe(true);
        if (kind === "ready") expect(isGood(seen)).toBe(true);
      }),
    );
  });
});

function isPeered({ foreignCluster }: LoanSight): boolean {
  return foreignCluster?.status?.role === "Provider";
}

function mayPeer(sight: LoanSight): boolean {
  const { marker, job } = sight;
  if (isPeered(sight) || job.kind === "running" || marker === undefined) return false;
  return marker.claims.includes(id) && !marker.isEnding;
}

function isGood(sight: LoanSight): boolean {
  const { slice, virtualNode, node, offload } = sight;
  const facts = [
    isPeered(sight),
    sight.foreignCluster?.status?.conditions?.[0]?.status === "Established",
    Object.keys(slice?.status?.resources ?? {}).length === 4,
    virtualNode !== undefined,
    isReadyNode(node),
    offload.kind === "done",
  ];
  return facts.every(Boolean);
}

function isReadyNode(node: LoanSight["node"]): boolean {
  return node?.metadata.labels !== undefined && node.status?.conditions?.[0]?.status === "True";
}
