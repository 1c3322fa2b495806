import type { JsonObject } from "@resource-broker/kube-sim";
import { typicalNode, typicalPod, typicalPodName, typicalRequests } from "@resource-broker/testkit";
import type { ClusterShape } from "./messages.ts";

const nodeName = (cluster: string, index: number): string => `${cluster}-${index}.compute.internal`;

export function nodeOf({ name, node }: ClusterShape, index: number): JsonObject {
  return typicalNode(nodeName(name, index), node === undefined ? {} : { room: node });
}

/** They run in turn on every node. */
export function podOf({ name, nodes }: ClusterShape, index: number): JsonObject {
  return typicalPod({
    name: typicalPodName(index),
    node: nodeName(name, index % Math.max(1, nodes)),
    requests: typicalRequests(index),
  });
}
