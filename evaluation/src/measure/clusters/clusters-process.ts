/** A process with simulated clusters: it takes orders from the evaluation and ends with it. */
import { randomBytes } from "node:crypto";
import { createKubeSim } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import {
  clusterDefinitions,
  typicalNode,
  typicalPod,
  typicalPodName,
  typicalRequests,
} from "@resource-broker/testkit";
import { parse } from "yaml";
import type { ClusterShape, ClustersReply } from "./start-clusters.ts";

const sim = createKubeSim({ clock: systemClock(Date.now), randomBytes });
const kinds = clusterDefinitions();

process.on("message", (shape: ClusterShape) => {
  const { name } = shape;
  add(shape).then(
    (kubeconfig) => answer({ name, kubeconfig }),
    (error: unknown) =>
      answer({ name, kubeconfig: "", problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.once("disconnect", () => process.exit(0));

async function add({ name, nodes, pods }: ClusterShape): Promise<string> {
  const cluster = await sim.addCluster({ name, behaves: false, objects: kinds });
  const nodeName = (index: number): string => `${name}-${index}.compute.internal`;
  // One by one: the objects of a large cluster would be there twice otherwise.
  for (let index = 0; index < nodes; index++) cluster.seed([typicalNode(nodeName(index))]);
  for (let index = 0; index < pods; index++) {
    // They run in turn on every node.
    const node = nodeName(index % Math.max(1, nodes));
    cluster.seed([typicalPod({ name: typicalPodName(index), node, requests: typicalRequests(index) })]);
  }
  // As JSON: an agent in its own cluster reads no YAML, and most are.
  return JSON.stringify(parse(cluster.kubeconfig));
}

function answer(reply: ClustersReply): void {
  process.send?.(reply);
}
