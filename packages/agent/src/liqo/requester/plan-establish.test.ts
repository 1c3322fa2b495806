import { describe, expect, test } from "vitest";
import type { ObservedVirtualNode } from "./plan-establish.ts";
import { ACCEPTED, aForeignCluster, aSlice, DESIRED, plan } from "./testing/samples.ts";

const PEERED = aForeignCluster("Provider");

describe("a reservation that comes in", () => {
  test.each<[string, Partial<ObservedVirtualNode>, object]>([
    ["is ready when all objects say so", {}, { kind: "ready" }],
    [
      "cannot reach its provider",
      { foreignCluster: aForeignCluster("Provider", { isReachable: false }) },
      { kind: "wait", reason: "ProviderUnreachable", isStalled: true },
    ],
    [
      "does not know whether Liqo reaches its provider",
      { foreignCluster: { ...PEERED, status: { role: "Provider", ...PEERED.status, conditions: [] } } },
      { kind: "wait", reason: "ProviderUnreachable", isStalled: true },
    ],
    [
      "is forbidden everything at its provider, which its node does not notice",
      { tenantStatus: "gone" },
      { kind: "wait", reason: "TenantMissing", isStalled: true },
    ],
    ["cannot ask its provider, and goes by its own objects", { tenantStatus: "unknown" }, { kind: "ready" }],
    [
      "cannot be used by its pods",
      { offload: { kind: "obstacle", reason: "OffloadingConflict", message: "a person's" } },
      { kind: "wait", reason: "OffloadingConflict", isStalled: true },
    ],
  ])("%s", (_, changes, expected) => {
    expect(plan(changes)).toMatchObject(expected);
  });

  test.each<[string, Partial<ObservedVirtualNode>, string]>([
    ["AwaitingAuthentication", { slice: aSlice(DESIRED) }, "Liqo at paris"],
    ["AwaitingGrant", { slice: aSlice(DESIRED, { authentication: "Accepted" }) }, "agent of paris"],
    ["AwaitingVirtualNode", { virtualNode: undefined }, "Liqo in this cluster"],
    ["AwaitingNode", { node: undefined }, "liqo-tenant-calm-paris"],
  ])("says where to look when %s takes too long", (reason, changes, where) => {
    const { slice = aSlice(DESIRED, ACCEPTED) } = changes;
    const finalizers = ["crdreplicator.liqo.io/resource"];
    const metadata = { ...slice.metadata, creationTimestamp: "2026-07-01T09:50:00Z", finalizers };
    const old = { ...slice, metadata };
    expect(plan({ ...changes, slice: old })).toMatchObject({
      kind: "wait",
      reason,
      isStalled: true,
      message: expect.stringContaining(where),
    });
  });

  test("is not stalled while others just take their time", () => {
    for (const changes of [{ slice: aSlice(DESIRED) }, { node: undefined }, { virtualNode: undefined }]) {
      expect(plan(changes)).not.toHaveProperty("isStalled");
    }
  });
});
