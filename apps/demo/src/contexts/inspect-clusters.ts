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
import { Fault, larger, NO_RESOURCES, subtract } from "@resource-broker/base";
import { type AdvertisementDTO, fromAdvertisement, fromCostModel } from "@resource-broker/contract";
import { CALLS_PROTOCOL, type Policy } from "@resource-broker/domain";
import {
  createKubeClient,
  type KubeClient,
  type KubeClientDeps,
  type KubeConfig,
  nodesWithLabels,
  podsWithLabels,
} from "@resource-broker/kube";
import type { LocalBroker } from "./local-broker.ts";
import { placePods, type WaitingGroup, waitingPods } from "./place-pods.ts";
import type { ClusterRef, ReadableCluster, Report, UnreadableCluster } from "./report.ts";

const COUNTED_PODS = podsWithLabels(liqoAccounting.labels.pod);
const COUNTED_NODES = nodesWithLabels([...liqoAccounting.labels.node, ...NODE_LABELS]);

/** What one look at a cluster finds. */
interface ClusterReading {
  readonly advertisement: AdvertisementDTO;
  readonly nodes: number;
  readonly uncounted: Readonly<Record<string, number>>;
  readonly waiting: readonly WaitingGroup[];
}

/**
 * Counts nodes and pods as an agent would. Of the client it gets nothing but `list`: whatever is wrong here, nothing can
 * be written.
 */
async function readCluster(
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
    protocol: CALLS_PROTOCOL,
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

const MAX_LENGTH = 63;

/** A cluster ID for each context, as near to its name as the rules allow; no two are alike. */
export function clusterIdsFor(contexts: readonly string[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const context of contexts) {
    const id = unused(plain(context), taken);
    taken.add(id);
    ids.set(context, id);
  }
  return ids;
}

/** Clouds name contexts by whole paths, of which the last part is what people say: `arn:aws:eks:…:cluster/prod`. */
function plain(context: string): string {
  const last = context.split("/").findLast((part) => /[A-Za-z0-9]/.test(part)) ?? "cluster";
  const id = last
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]+/g, "-")
    .replaceAll(/^[^a-z0-9]+/g, "")
    .slice(0, MAX_LENGTH)
    .replaceAll(/[^a-z0-9]+$/g, "");
  return id === "" ? "cluster" : id;
}

function unused(id: string, taken: ReadonlySet<string>): string {
  for (let number = 2, candidate = id; ; number++) {
    if (!taken.has(candidate)) return candidate;
    const ending = `-${number}`;
    candidate = `${id.slice(0, MAX_LENGTH - ending.length)}${ending}`;
  }
}

export interface InspectDeps extends KubeClientDeps {
  readonly startBroker: () => Promise<LocalBroker>;
  readonly policy: Policy;
}

interface InspectedCluster {
  readonly report: UnreadableCluster | ReadableCluster;
  /** Absent: it could not be read. */
  readonly reading?: ClusterReading;
}

/** Reads every cluster, and lets a broker of our own decide what would become of the pods that wait. */
export async function inspectClusters(
  configs: ReadonlyMap<string, KubeConfig>,
  deps: InspectDeps,
): Promise<Report> {
  const ids = clusterIdsFor([...configs.keys()]);
  const inspected = await Promise.all(
    [...configs].map(([context, config]) =>
      inspect({ context, clusterID: ids.get(context) ?? context, server: config.server }, config, deps),
    ),
  );
  const readings = inspected.flatMap(({ reading }) => reading ?? []);
  const waiting = readings.map((reading) => ({
    clusterId: reading.advertisement.clusterID,
    groups: reading.waiting,
  }));
  const broker = await deps.startBroker();
  try {
    for (const { advertisement } of readings) await broker.advertise(advertisement);
    const pending = await placePods(waiting, broker);
    return { clusters: inspected.map(({ report }) => report), pending };
  } finally {
    await broker.dispose();
  }
}

async function inspect(of: ClusterRef, config: KubeConfig, deps: InspectDeps): Promise<InspectedCluster> {
  const client = createKubeClient(config, deps);
  try {
    const reading = await readCluster(client, { clusterId: of.clusterID, now: deps.clock.wallMs() });
    return { report: clusterReport(of, reading, deps.policy), reading };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { report: { ...of, problem: error.message } };
  } finally {
    client.close();
  }
}

function clusterReport(of: ClusterRef, reading: ClusterReading, policy: Policy): ReadableCluster {
  const { nodes, uncounted, advertisement } = reading;
  const { allocatable, allocated, available } = advertisement.resources;
  const cost = policy.prices.clusters[of.clusterID];
  return {
    ...of,
    nodes,
    uncounted,
    allocatable,
    allocated,
    available,
    ...(cost === undefined ? {} : { cost: fromCostModel(cost) }),
  };
}
