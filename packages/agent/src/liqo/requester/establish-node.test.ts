import { describe, expect, test } from "vitest";
import type { ObservedVirtualNode } from "./plan-establish.ts";
import { aNode, DESIRED, plan, VIRTUAL_NODE } from "./testing/samples.ts";

describe("a reservation that comes in", () => {
  test.each<[string, Partial<ObservedVirtualNode>, object]>([
    ["waits for Liqo", { virtualNode: undefined }, { kind: "wait", reason: "AwaitingVirtualNode" }],
    ["waits for the node", { node: undefined }, { kind: "wait", reason: "AwaitingNode" }],
    [
      "meets a real node of its name",
      { node: aNode(DESIRED, { isVirtual: false }) },
      { kind: "wait", reason: "NodeConflict", isStalled: true },
    ],
    [
      "has patience with a node that comes up",
      { node: aNode(DESIRED, { ready: "False" }) },
      { kind: "wait", reason: "NodeNotReady" },
    ],
    [
      "has none with one that does not",
      { node: aNode(DESIRED, { ready: "Unknown", since: "2026-07-01T09:00:00Z" }) },
      { kind: "wait", reason: "NodeNotReady", isStalled: true },
    ],
    [
      "has a node of another size",
      { node: aNode(DESIRED, { allocatable: { ...DESIRED.resources, memory: "4Gi" } }) },
      { kind: "wait", reason: "NodeSizeDiffers", isStalled: true },
    ],
    [
      "has a node with more than was reserved",
      { node: aNode(DESIRED, { allocatable: { ...DESIRED.resources, "nvidia.com/gpu": "1" } }) },
      { kind: "wait", reason: "NodeSizeDiffers", message: expect.stringContaining("nvidia.com/gpu is 1") },
    ],
    [
      "has a node of another provider",
      { node: aNode({ ...DESIRED, liqoId: "calm-oslo" }) },
      { kind: "wait", reason: "NodeConflict", isStalled: true },
    ],
    [
      "is not ready while its virtual node is being deleted",
      { virtualNode: { ...VIRTUAL_NODE, metadata: { ...VIRTUAL_NODE.metadata, deletionTimestamp: "x" } } },
      { kind: "wait", reason: "NodeTerminating" },
    ],
  ])("%s", (_, changes, expected) => {
    expect(plan(changes)).toMatchObject(expected);
  });
});
