import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LoanSight, planEstablish } from "./plan-establish.ts";
import { ACCEPTED, FAILED, WISH } from "./testing/loan-sights.ts";
import { aForeignCluster, aMarker, aNode, aSlice, aVirtualNode, NOW } from "./testing/samples.ts";

describe("a loan that comes in", () => {
  test("is never ready, peered or asked for on less than the whole truth", () => {
    const any = <T>(...values: readonly T[]) => fc.constantFrom(...values);
    const sight = fc.record({
      foreignCluster: any(
        undefined,
        aForeignCluster("Unknown"),
        aForeignCluster("Consumer"),
        aForeignCluster("Provider"),
        aForeignCluster("Provider", { hasIdentity: false }),
        aForeignCluster("Provider", { isReachable: false }),
      ),
      marker: any(undefined, aMarker([WISH.id]), aMarker(["rsv-b"]), aMarker([WISH.id], { isEnding: true })),
      job: any<LoanSight["job"]>(
        { kind: "none" },
        { kind: "running", job: "peer", forMs: 1 },
        { kind: "running", job: "unpeer", forMs: 1 },
        { kind: "done", job: "peer", forMs: 1 },
        { kind: "done", job: "force-unpeer", forMs: 1 },
        FAILED,
      ),
      slice: any(
        undefined,
        aSlice(WISH),
        aSlice(WISH, ACCEPTED),
        aSlice(WISH, { ...ACCEPTED, granted: { cpu: "4" } }),
        aSlice(WISH, { ...ACCEPTED, resources: "Denied" }),
      ),
      virtualNode: any(undefined, aVirtualNode(WISH)),
      node: any(undefined, aNode(WISH), aNode(WISH, { ready: "False" }), aNode(WISH, { isVirtual: false })),
      standing: any<LoanSight["standing"]>("let-in", "leaving", "gone", "unknown"),
      offload: any<LoanSight["offload"]>({ kind: "done" }, { kind: "obstacle", reason: "X", message: "" }),
      wallMs: fc.constant(NOW),
    });
    fc.assert(
      fc.property(sight, (seen) => {
        const { kind } = planEstablish(WISH, seen);
        if (kind === "peer") expect(mayPeer(seen)).toBe(true);
        if (kind === "create-slice") expect(isPeered(seen) && seen.slice === undefined).toBe(true);
        if (kind === "ready") expect(isGood(seen)).toBe(true);
      }),
    );
  });
});

function isPeered({ foreignCluster }: LoanSight): boolean {
  const { role, modules } = foreignCluster?.status ?? {};
  return role === "Provider" && modules?.authentication.conditions?.[0]?.status === "Ready";
}

function mayPeer(sight: LoanSight): boolean {
  const { marker, job } = sight;
  if (isPeered(sight) || job.kind === "running" || marker === undefined) return false;
  return marker.claims.includes(WISH.id) && !marker.isEnding;
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
    sight.standing !== "gone" && sight.standing !== "leaving",
  ];
  return facts.every(Boolean);
}

function isReadyNode(node: LoanSight["node"]): boolean {
  return node?.metadata.labels !== undefined && node.status?.conditions?.[0]?.status === "True";
}
