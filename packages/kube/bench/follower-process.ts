/** The process that is measured: it follows nodes and pods and keeps the sums, as an agent does, and nothing else. */
import { clusterSums, nodeFacts, podFacts, podKey } from "@resource-broker/domain";
import { createKubeClient, follow, type KubeConfig, NODES, PODS } from "@resource-broker/kube";
import { nodeMachineTime } from "@resource-broker/runtime";
import { onOrder, type Report, tell } from "./messages.ts";

const machine = nodeMachineTime(Date.now);
const complain = (fields: object, message: string): void => console.error(message, fields);
const log = { info: () => undefined, warn: complain, error: complain };
const sums = clusterSums();
let events = 0;

onOrder((order) => {
  if (order.kind === "follow") void start(order.config);
  else if (order.kind === "report") tell("report", report());
});
tell("ready", {});

async function start(config: KubeConfig): Promise<void> {
  const client = createKubeClient(config, { machine, log, env: {} });
  const deps = { client, machine, random: Math.random, log };
  const nodes = follow(
    { resource: NODES },
    {
      beginList: () => sums.beginNodes(),
      endList: () => sums.endNodes(),
      put: (node) => sums.putNode(nodeFacts(node).facts),
      remove: (node) => sums.removeNode(node.metadata?.name ?? ""),
    },
    deps,
  );
  const pods = follow(
    { resource: PODS, gatherMs: 100 },
    {
      beginList: () => sums.beginPods(),
      endList: () => sums.endPods(),
      put: (pod) => {
        events += 1;
        sums.putPod(podFacts(pod).facts);
      },
      remove: (pod) => {
        events += 1;
        sums.removePod(podKey(pod));
      },
    },
    deps,
  );
  await Promise.all([nodes.start(), pods.start()]);
  tell("synced", report());
}

function report(): Report {
  const { allocatable, allocated } = sums.totals();
  return { events, allocatableMillis: allocatable.cpuMillis, allocatedMillis: allocated.cpuMillis };
}
