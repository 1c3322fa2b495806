/** A process with simulated clusters: it takes orders from the evaluation and ends with it. */
import { randomBytes } from "node:crypto";
import { createKubeSim, type JsonObject } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import {
  clusterDefinitions,
  typicalNode,
  typicalPod,
  typicalPodName,
  typicalRequests,
} from "@resource-broker/testkit";
import { parse } from "yaml";
import type { ClustersCommand, ClusterShape, ClustersReply } from "./start-clusters.ts";

const nodeName = (cluster: string, index: number): string => `${cluster}-${index}.compute.internal`;

function nodeOf({ name, node }: ClusterShape, index: number): JsonObject {
  return typicalNode(nodeName(name, index), node === undefined ? {} : { room: node });
}

/** They run in turn on every node. */
function podOf({ name, nodes }: ClusterShape, index: number): JsonObject {
  return typicalPod({
    name: typicalPodName(index),
    node: nodeName(name, index % Math.max(1, nodes)),
    requests: typicalRequests(index),
  });
}

const sim = createKubeSim({ clock: systemClock(Date.now), randomBytes });
const kinds = clusterDefinitions();

process.on("message", (order: ClustersCommand) => {
  const name = order.kind === "add" ? order.shape.name : order.name;
  const done = order.kind === "add" ? add(order.shape) : remove(order.name);
  done.then(answer, (error: unknown) =>
    answer({ kind: "failed", name, problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.once("disconnect", () => process.exit(0));

async function add(shape: ClusterShape): Promise<ClustersReply> {
  const cluster = await sim.addCluster({ name: shape.name, behaves: false, objects: kinds });
  // One by one: the objects of a large cluster would be there twice otherwise.
  for (let index = 0; index < shape.nodes; index++) cluster.seed([nodeOf(shape, index)]);
  for (let index = 0; index < shape.pods; index++) cluster.seed([podOf(shape, index)]);
  // As JSON: an agent in its own cluster reads no YAML, and most are.
  return { kind: "added", name: shape.name, kubeconfig: JSON.stringify(parse(cluster.kubeconfig)) };
}

async function remove(name: string): Promise<ClustersReply> {
  await sim
    .clusters()
    .find((cluster) => cluster.name === name)
    ?.stop();
  return { kind: "removed", name };
}

function answer(given: ClustersReply): void {
  process.send?.(given);
}
