/** A process with one simulated cluster, of whatever size, in which as much happens as it is told. */
import { randomBytes } from "node:crypto";
import { createKubeSim, type SimCluster } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import { clusterDefinitions, typicalCpuMillis, typicalPodName } from "@resource-broker/testkit";
import { parse } from "yaml";
import { answer, type ClusterSize, onOrder } from "./messages.ts";
import { makeGpuPod, makeNode, makePod } from "./objects.ts";

const TICK_MS = 5;
const CHANGES_PER_DEPARTURE = 10;

let cluster: SimCluster;
let size: ClusterSize;
/** Pods `gone` to `arrived - 1` are there. */
let gone = 0;
let arrived = 0;
let changes = 0;
let ticking: NodeJS.Timeout | undefined;

onOrder((order) => {
  switch (order.kind) {
    case "serve":
      return void serve(order.size);
    case "change":
      return beginChanges(order.perSecond);
    case "rest":
      clearInterval(ticking);
      return answer("resting", { changes, allocatedMillis: allocatedMillis() });
    case "occupy":
      cluster.seed([makeGpuPod()]);
      return answer("done", {});
    case "vacate":
      remove("training");
      return answer("done", {});
  }
});

async function serve(wanted: ClusterSize): Promise<void> {
  size = wanted;
  arrived = size.pods;
  const sim = createKubeSim({ clock: systemClock(Date.now), randomBytes });
  cluster = await sim.addCluster({ name: "bench", behaves: false, objects: clusterDefinitions() });
  for (let index = 0; index < size.nodes; index++) cluster.seed([makeNode(index)]);
  for (let index = 0; index < size.pods; index++) cluster.seed([makePod(index, size)]);
  // As JSON: an agent in its own cluster reads no YAML, and most are.
  answer("listening", { kubeconfig: JSON.stringify(parse(cluster.kubeconfig)) });
}

/** One by one, evenly: a client that is woken for each change has the most work with it. */
function beginChanges(perSecond: number): void {
  const beganAt = performance.now();
  const before = changes;
  ticking = setInterval(() => {
    const due = before + ((performance.now() - beganAt) * perSecond) / 1000;
    while (changes < due) change();
  }, TICK_MS);
}

/** Most pods only report, now and then one goes and another comes. */
function change(): void {
  changes += 1;
  const step = changes % CHANGES_PER_DEPARTURE;
  if (step === 0) remove(typicalPodName(gone++));
  else if (step === 1) cluster.seed([makePod(arrived++, size)]);
  else {
    const index = gone + ((changes * 7919) % (arrived - gone));
    cluster.seed([makePod(index, { ...size, restarts: changes })]);
  }
}

function remove(name: string): void {
  const definition = cluster.api.definitions().find(({ plural }) => plural === "pods");
  if (definition === undefined) throw new Error("the cluster serves no pods");
  const target = { definition, namespace: "default", name };
  cluster.api.delete(target, { dryRun: false, propagation: "Background", gracePeriodSeconds: 0 });
}

/** Counted from what the pods ask for, and not as the agent does. */
function allocatedMillis(): number {
  let sum = 0;
  for (let index = gone; index < arrived; index++) sum += typicalCpuMillis(index);
  return sum;
}
