import {
  type ClusterSums,
  clusterLabels,
  clusterSums,
  gpuModels,
  NODE_LABELS,
  nodeFacts,
  podFacts,
} from "@resource-broker/accounting";
import { liqoAccounting } from "@resource-broker/agent/liqo";
import { larger, NO_RESOURCES, subtract } from "@resource-broker/base";
import { type AdvertisementDTO, fromAdvertisement } from "@resource-broker/contract";
import { CURRENT_PROTOCOL } from "@resource-broker/domain";
import { type KubeClient, nodesWithLabels, podsWithLabels } from "@resource-broker/kube";
import { type WaitingGroup, waitingPods } from "./waiting-pods.ts";

const COUNTED_PODS = podsWithLabels(liqoAccounting.labels.pod);
const COUNTED_NODES = nodesWithLabels([...liqoAccounting.labels.node, ...NODE_LABELS]);

/** What one look at a cluster finds. */
export interface ClusterReading {
  readonly advertisement: AdvertisementDTO;
  readonly nodes: number;
  readonly uncounted: Readonly<Record<string, number>>;
  readonly waiting: readonly WaitingGroup[];
}

/**
 * Counts nodes and pods as an agent would. Of the client it gets nothing but `list`: whatever is wrong here, nothing can
 * be written.
 */
export async function readCluster(
  client: Pick<KubeClient, "list">,
  { clusterId, now }: { readonly clusterId: string; readonly now: number },
): Promise<ClusterReading> {
  const sums = clusterSums();
  await client.list(COUNTED_NODES, {}, (node) =>
    sums.putNode(nodeFacts(node, undefined, liqoAccounting).facts),
  );
  await client.list(COUNTED_PODS, {}, (pod) => sums.putPod(podFacts(pod, undefined, liqoAccounting).facts));
  const waiting = await waitingPods(client);
  const nodes = [...sums.nodes()];
  return {
    advertisement: advertisementFrom(sums, clusterId, now),
    nodes: nodes.length,
    uncounted: counts(nodes.flatMap(({ verdict }) => (verdict.counted ? [] : [verdict.reason]))),
    waiting,
  };
}

function advertisementFrom(sums: ClusterSums, clusterId: string, now: number): AdvertisementDTO {
  const { capacity, allocatable, allocated, nodeShapes } = sums.totals();
  const counted = [...sums.nodes()].filter(({ verdict }) => verdict.counted).map(({ facts }) => facts);
  const stated = {
    clusterId,
    capacity,
    allocatable,
    allocated,
    usage: [],
    nodeShapes,
    gpuModels: gpuModels(counted),
    labels: clusterLabels(counted),
    protocol: CURRENT_PROTOCOL,
    statedAt: now,
  };
  const available = larger(subtract(allocatable, allocated), NO_RESOURCES);
  return fromAdvertisement(stated, { reserved: NO_RESOURCES, available, receivedAt: now });
}

function counts(words: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const word of words) found[word] = (found[word] ?? 0) + 1;
  return found;
}
