import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ObservedVirtualNode, planEstablish } from "./plan-establish.ts";
import {
  ACCEPTED,
  aForeignCluster,
  aMarker,
  aNode,
  aSlice,
  aVirtualNode,
  DESIRED,
  FAILED,
  NOW,
} from "./testing/samples.ts";

describe("a reservation that comes in", () => {
  test("is never ready, peered or asked for on less than the whole truth", () => {
    const any = <T>(...values: readonly T[]) => fc.constantFrom(...values);
    const observed = fc.record({
      foreignCluster: any(
        undefined,
        aForeignCluster("Unknown"),
        aForeignCluster("Consumer"),
        aForeignCluster("Provider"),
        aForeignCluster("Provider", { hasIdentity: false }),
        aForeignCluster("Provider", { isReachable: false }),
      ),
      marker: any(
        undefined,
        aMarker([DESIRED.id]),
        aMarker(["rsv-b"]),
        aMarker([DESIRED.id], { isEnding: true }),
      ),
      job: any<ObservedVirtualNode["job"]>(
        { kind: "none" },
        { kind: "running", job: "peer", forMs: 1 },
        { kind: "running", job: "unpeer", forMs: 1 },
        { kind: "done", job: "peer", forMs: 1 },
        { kind: "done", job: "force-unpeer", forMs: 1 },
        FAILED,
      ),
      slice: any(
        undefined,
        aSlice(DESIRED),
        aSlice(DESIRED, ACCEPTED),
        aSlice(DESIRED, { ...ACCEPTED, granted: { cpu: "4" } }),
        aSlice(DESIRED, { ...ACCEPTED, resources: "Denied" }),
      ),
      virtualNode: any(undefined, aVirtualNode(DESIRED)),
      node: any(
        undefined,
        aNode(DESIRED),
        aNode(DESIRED, { ready: "False" }),
        aNode(DESIRED, { isVirtual: false }),
      ),
      tenantStatus: any<ObservedVirtualNode["tenantStatus"]>("admitted", "terminating", "gone", "unknown"),
      offload: any<ObservedVirtualNode["offload"]>(
        { kind: "done" },
        { kind: "obstacle", reason: "X", message: "" },
      ),
      wallMs: fc.constant(NOW),
    });
    fc.assert(
      fc.property(observed, (seen) => {
        const { kind } = planEstablish(DESIRED, seen);
        if (kind === "peer") expect(mayPeer(seen)).toBe(true);
        if (kind === "create-slice") expect(isPeered(seen) && seen.slice === undefined).toBe(true);
        if (kind === "ready") expect(isGood(seen)).toBe(true);
      }),
    );
  });
});

function isPeered({ foreignCluster }: ObservedVirtualNode): boolean {
  const { role, modules } = foreignCluster?.status ?? {};
  return role === "Provider" && modules?.authentication.conditions?.[0]?.status === "Ready";
}

function mayPeer(observed: ObservedVirtualNode): boolean {
  const { marker, job } = observed;
  if (isPeered(observed) || job.kind === "running" || marker === undefined) return false;
  return marker.claims.includes(DESIRED.id) && !marker.isEnding;
}

function isGood(observed: ObservedVirtualNode): boolean {
  const { slice, virtualNode, node, offload } = observed;
  const facts = [
    isPeered(observed),
    observed.foreignCluster?.status?.conditions?.[0]?.status === "Established",
    Object.keys(slice?.status?.resources ?? {}).length === 4,
    virtualNode !== undefined,
    isReadyNode(node),
    offload.kind === "done",
    observed.tenantStatus !== "gone" && observed.tenantStatus !== "terminating",
  ];
  return facts.every(Boolean);
}

function isReadyNode(node: ObservedVirtualNode["node"]): boolean {
  return node?.metadata.labels !== undefined && node.status?.conditions?.[0]?.status === "True";
}
