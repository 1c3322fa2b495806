/** The process that is measured: it follows nodes and pods and keeps the sums, as an agent does, and nothing else. */
import { clusterSums, NODE_LABELS, nodeFacts, podFacts, podKey } from "@resource-broker/accounting";
import { liqoAccounting } from "@resource-broker/agent/liqo";
import {
  createKubeClient,
  type KubeConfig,
  nodesWithLabels,
  podsWithLabels,
  reflector,
} from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import { onCommand, type Report, sendReply } from "./messages.ts";

const clock = systemClock(Date.now);
const logError = (fields: object, message: string): void => console.error(message, fields);
const log = { info: () => undefined, warn: logError, error: logError };
const COUNTED_PODS = podsWithLabels(liqoAccounting.labels.pod);
const COUNTED_NODES = nodesWithLabels([...liqoAccounting.labels.node, ...NODE_LABELS]);
const sums = clusterSums();
let events = 0;

onCommand((command) => {
  if (command.kind === "follow") void start(command.config);
  else if (command.kind === "report") sendReply("report", report());
});
sendReply("ready", {});

async function start(config: KubeConfig): Promise<void> {
  const client = createKubeClient(config, { clock, log, env: {} });
  const deps = { client, clock, random: Math.random, log };
  const nodes = reflector(
    { resource: COUNTED_NODES },
    {
      beginList: () => sums.beginNodes(),
      endList: () => sums.endNodes(),
      put: (node) => sums.putNode(nodeFacts(node, undefined, liqoAccounting).facts),
      remove: (node) => sums.removeNode(node.metadata?.name ?? ""),
    },
    deps,
  );
  const pods = reflector(
    { resource: COUNTED_PODS, coalesceMs: 100 },
    {
      beginList: () => sums.beginPods(),
      endList: () => sums.endPods(),
      put: (pod) => {
        events += 1;
        sums.putPod(podFacts(pod, undefined, liqoAccounting).facts);
      },
      remove: (pod) => {
        events += 1;
        sums.removePod(podKey(pod));
      },
    },
    deps,
  );
  await Promise.all([nodes.start(), pods.start()]);
  sendReply("synced", report());
}

function report(): Report {
  const { allocatable, allocated } = sums.totals();
  return { events, allocatableMillis: allocatable.cpuMillis, allocatedMillis: allocated.cpuMillis };
}
