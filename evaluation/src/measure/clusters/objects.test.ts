import { randomBytes } from "node:crypto";
import { createKubeSim } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import { expect, test } from "vitest";
import { nodeOf, podOf } from "./objects.ts";

test("a simulated cluster takes the nodes and pods, each under its own name", async () => {
  const sim = createKubeSim({ clock: systemClock(() => 0), randomBytes });
  const cluster = await sim.addCluster({ name: "rome", behaves: false });
  const shape = { name: "rome", nodes: 2, pods: 40 };
  for (let index = 0; index < shape.nodes; index++) cluster.seed([nodeOf(shape, index)]);
  for (let index = 0; index < shape.pods; index++) cluster.seed([podOf(shape, index)]);
  const count = (plural: string): number => {
    const definition = cluster.api.definitions().find((each) => each.plural === plural);
    return definition === undefined ? -1 : cluster.api.list({ definition }, {}).items.length;
  };
  expect([count("nodes"), count("pods")]).toEqual([2, 40]);
  await sim.stop();
});

test("every pod runs on a node that is there", () => {
  const shape = { name: "rome", nodes: 3, pods: 10 };
  const nodes = new Set([0, 1, 2].map((index) => nodeOf(shape, index)["metadata"]).map(nameOf));
  const used = Array.from({ length: shape.pods }, (_, index) => podOf(shape, index)["spec"]);
  expect(used.every((spec) => isOn(spec, nodes))).toBe(true);
});

function nameOf(metadata: unknown): unknown {
  return typeof metadata === "object" && metadata !== null && "name" in metadata ? metadata.name : undefined;
}

function isOn(spec: unknown, nodes: ReadonlySet<unknown>): boolean {
  return typeof spec === "object" && spec !== null && "nodeName" in spec && nodes.has(spec.nodeName);
}
