import { describe, expect, test } from "vitest";
import type { ObservedVirtualNode } from "./plan-establish.ts";
import { aForeignCluster, aMarker, DESIRED, FAILED, NOT_PEERED, plan } from "./testing/samples.ts";

describe("a reservation that comes in", () => {
  test.each<[string, Partial<ObservedVirtualNode>, object]>([
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
      { ...NOT_PEERED, job: FAILED },
      { kind: "wait", reason: "KubeconfigMissing", isStalled: true },
    ],
    ["tries again after a pause", { ...NOT_PEERED, job: { ...FAILED, retryInMs: 0 } }, { kind: "peer" }],
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
      { marker: aMarker([DESIRED.id], { isEnding: true }) },
      { kind: "reopen" },
    ],
    [
      "opens the peering of others that cannot be ended",
      { marker: aMarker(["rsv-other"], { isEnding: true }), job: { ...FAILED, job: "unpeer" } },
      { kind: "reopen" },
    ],
    [
      "waits for liqoctl to unpeer",
      { job: { kind: "running", job: "force-unpeer", forMs: 1 } },
      { kind: "wait", reason: "Unpeering" },
    ],
  ])("%s", (_, changes, expected) => {
    expect(plan(changes)).toMatchObject(expected);
  });
});
