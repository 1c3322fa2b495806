import type { JsonObject } from "@resource-broker/kube-sim";
import { typicalNode, typicalPod, typicalPodName, typicalRequests } from "@resource-broker/testkit";

/** The first node has them all: one of them taken is more than a tenth, which is told at once. */
const GPUS = {
  room: { "nvidia.com/gpu": "8" },
  labels: { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" },
};

const nodeName = (index: number): string => `ip-10-${index >> 8}-${index & 255}-7.compute.internal`;

export function makeNode(index: number): JsonObject {
  return typicalNode(nodeName(index), index === 0 ? GPUS : {});
}

export function makePod(
  index: number,
  { nodes, restarts = 0 }: { nodes: number; restarts?: number },
): JsonObject {
  return typicalPod({
    name: typicalPodName(index),
    node: nodeName(index % nodes),
    requests: typicalRequests(index),
    restarts,
  });
}

/** A pod that takes one of the GPUs and nothing else. */
export function makeGpuPod(): JsonObject {
  return typicalPod({ name: "training", node: nodeName(0), requests: { "nvidia.com/gpu": "1" } });
}
