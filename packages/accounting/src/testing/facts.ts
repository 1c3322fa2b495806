import { NO_RESOURCES, type ResourceVector, resourceVector } from "@resource-broker/base";
import type { NodeFacts } from "../node.ts";
import type { GuestFacts } from "../node-accounting.ts";
import type { PodFacts } from "../pod.ts";

/** A healthy node of 4 CPU and 4 GiB, except for what the test states. */
export function aNode(stated: Partial<NodeFacts> = {}): NodeFacts {
  const allocatable = stated.allocatable ?? resourceVector({ cpuMillis: 4000, memoryBytes: 4 * 1024 ** 3 });
  return {
    name: "node-1",
    ready: true,
    unschedulable: false,
    virtual: false,
    taints: [],
    capacity: allocatable,
    allocatable,
    region: undefined,
    zone: undefined,
    gpuModel: undefined,
    gpuMemoryBytes: undefined,
    ...stated,
  };
}

/** A pod that asks for nothing and waits for a node, except for what the test states. */
export function aPod(stated: Partial<PodFacts> = {}): PodFacts {
  return {
    key: "default/pod-1",
    nodeName: undefined,
    terminal: false,
    request: NO_RESOURCES,
    unreadable: false,
    guest: undefined,
    gated: false,
    selectsVirtualNode: false,
    pinnedNode: undefined,
    ...stated,
  };
}

export function aGuest(reservationId: string, origin = "rome-liqo"): GuestFacts {
  return { reservationId, origin };
}

export const cpus = (count: number): ResourceVector => resourceVector({ cpuMillis: count * 1000 });
