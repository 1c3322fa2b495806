import { Fault } from "@resource-broker/base";
import { fromCostModel } from "@resource-broker/contract";
import type { Policy } from "@resource-broker/domain";
import { createKubeClient, type KubeClientDeps, type KubeConfig } from "@resource-broker/kube";
import { clusterIdsFor } from "./cluster-ids.ts";
import type { LocalBroker } from "./local-broker.ts";
import { placePods } from "./place-pods.ts";
import { type ClusterReading, readCluster } from "./read-cluster.ts";
import type { ClusterRef, ReadableCluster, Report, UnreadableCluster } from "./report.ts";

export interface InspectDeps extends KubeClientDeps {
  readonly startBroker: () => Promise<LocalBroker>;
  readonly policy: Policy;
}

type InspectedCluster =
  | { readonly of: ClusterRef; readonly problem: string }
  | { readonly of: ClusterRef; readonly problem: undefined; readonly reading: ClusterReading };

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
  const read = inspected.filter((each) => each.problem === undefined);
  const waiting = read.map(({ of, reading }) => ({ clusterId: of.clusterID, groups: reading.waiting }));
  const broker = await deps.startBroker();
  try {
    for (const { reading } of read) await broker.advertise(reading.advertisement);
    const pending = await placePods(waiting, broker);
    return { clusters: inspected.map((each) => clusterReport(each, deps.policy)), pending };
  } finally {
    await broker.dispose();
  }
}

async function inspect(of: ClusterRef, config: KubeConfig, deps: InspectDeps): Promise<InspectedCluster> {
  const client = createKubeClient(config, deps);
  try {
    const reading = await readCluster(client, { clusterId: of.clusterID, now: deps.clock.wallMs() });
    return { of, problem: undefined, reading };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { of, problem: error.message };
  } finally {
    client.close();
  }
}

function clusterReport(inspected: InspectedCluster, policy: Policy): UnreadableCluster | ReadableCluster {
  const { of } = inspected;
  if (inspected.problem !== undefined) return { ...of, problem: inspected.problem };
  const { nodes, uncounted, advertisement } = inspected.reading;
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
