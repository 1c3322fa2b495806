import { join } from "node:path";
import { IDENTITIES, RESOURCE_SLICES, TENANTS, VIRTUAL_NODES } from "@resource-broker/agent/liqo";
import type { ObjectName, Resource } from "@resource-broker/kube";
import {
  clusterDefinitions,
  controlPlaneAssets,
  liqoAssets,
  nodeObject,
  type RealLiqoControlPlanes,
  realLiqoControlPlanes,
  until,
  WHOLE_NODES,
  type WorldCluster,
  worldCluster,
} from "@resource-broker/testkit";
import type { OnCleanup } from "../../measure/async.ts";

export const REQUESTER = "rome";
export const PROVIDER = "paris";
export const AMOUNTS = { cpu: "1", memory: "1Gi" };
/** Only a guard: Liqo and liqoctl give up earlier. */
export const WITHIN_MS = 300_000;
/** What is there as long as two clusters are peered, or something of it is left. */
const TRACES: readonly Resource<unknown>[] = [IDENTITIES, TENANTS, RESOURCE_SLICES, VIRTUAL_NODES];

/** Two clusters with Liqo. */
export interface ClusterPair {
  readonly liqo: RealLiqoControlPlanes;
  readonly requester: WorldCluster;
  readonly provider: WorldCluster;
  /** Kubeconfigs with the rights of each agent, by the name of its cluster. */
  readonly access: ReadonlyMap<string, string>;
}

/** Undefined: Liqo and all it needs are on this machine. */
export function missingLiqo(): string | undefined {
  const planes = controlPlaneAssets(process.env, () => undefined);
  if (!planes.isThere) return planes.why;
  let why: string | undefined;
  liqoAssets(process.env, (line) => (why = line));
  return why;
}

export async function openClusterPair(folder: string, onCleanup: OnCleanup): Promise<ClusterPair> {
  const liqo = realLiqoControlPlanes({ names: [REQUESTER, PROVIDER] });
  onCleanup(liqo.stop);
  const access = new Map<string, string>();
  const open = async (name: string): Promise<WorldCluster> => {
    const objects = [...clusterDefinitions(), nodeObject(`${name}-1`, { cpu: "64", memory: "256Gi" })];
    const { kubeconfig, agentKubeconfig = kubeconfig } = await liqo.start(name, objects);
    access.set(name, agentKubeconfig);
    const kubeconfigFile = join(folder, `${name}.kubeconfig`);
    const cluster = await worldCluster({ name, kubeconfigFile, kubeconfig });
    onCleanup(cluster.client.close);
    return cluster;
  };
  const provider = await open(PROVIDER);
  const requester = await open(REQUESTER);
  return { liqo, access, provider, requester };
}

/** Resolves when the node is Ready with exactly what was asked for. */
export async function untilReady({ requester: { client } }: ClusterPair, name: string): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const { conditions = [], allocatable } = (await client.find(WHOLE_NODES, { name }))?.status ?? {};
    const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
    const isWhole = allocatable?.["cpu"] === AMOUNTS.cpu && allocatable["memory"] === AMOUNTS.memory;
    return isReady && isWhole ? true : undefined;
  };
  await until(`node ${name} is Ready with ${AMOUNTS.cpu} CPU and ${AMOUNTS.memory}`, look, WITHIN_MS);
}

export async function untilNoNode({ requester: { client } }: ClusterPair, name: string): Promise<void> {
  const look = async (): Promise<true | undefined> =>
    (await client.find(WHOLE_NODES, { name })) === undefined ? true : undefined;
  await until(`node ${name} is gone`, look, WITHIN_MS);
}

/** Resolves when nothing is left of a peering: one that is made on the rests of another never comes up. */
export async function untilApart(clusters: ClusterPair): Promise<void> {
  const { requester, provider } = clusters;
  for (const { name, client } of [requester, provider]) {
    const look = async (): Promise<true> => {
      const left: string[] = [];
      for (const resource of TRACES) await client.list(resource, {}, () => void left.push(resource.kind));
      if (left.length > 0) throw new Error(left.join(", "));
      return true;
    };
    await until(`nothing of a peering is left in ${name}`, look, WITHIN_MS);
  }
  await untilNoKey(clusters);
}

async function untilNoKey({ liqo }: ClusterPair): Promise<void> {
  const keys = ["get", "secrets", "-A", "-l", "liqo.io/identity-type", "-o", "name"];
  const look = async (): Promise<true | undefined> =>
    (await liqo.cluster(REQUESTER).plane.kubectl(keys)).stdout === "" ? true : undefined;
  await until(`the key of a peering is gone in ${REQUESTER}`, look, WITHIN_MS);
}

/** Deletes slices of this name, or all of them, and waits until their nodes are gone. */
export async function deleteSlices(clusters: ClusterPair, only?: string): Promise<void> {
  const { client } = clusters.requester;
  for (const { name, namespace = "" } of await namesOf(clusters, RESOURCE_SLICES)) {
    if (only !== undefined && name !== only) continue;
    await client.delete(RESOURCE_SLICES, { name, namespace });
    await untilNoNode(clusters, name);
  }
}

/**
 * What must be gone before `liqoctl unpeer`: that takes Liqo's rights at the provider, often before Liqo has cleaned up with
 * them; then it holds on to its key for ever, and no later peering comes up.
 */
export async function endIdentities(clusters: ClusterPair): Promise<void> {
  const found = await namesOf(clusters, IDENTITIES);
  for (const { name, namespace = "" } of found)
    await clusters.requester.client.delete(IDENTITIES, { name, namespace });
  await untilNoKey(clusters);
  // A virtual kubelet waits 16 s for the Lease of one before it with the same name, as every first one by hand has.
  const { plane } = clusters.liqo.cluster(REQUESTER);
  for (const namespace of new Set(found.map((each) => each.namespace ?? "")))
    await plane.kubectl(["delete", "leases", "--all", "-n", namespace]);
}

async function namesOf<T extends { readonly metadata: ObjectName }>(
  { requester }: ClusterPair,
  resource: Resource<T>,
): Promise<ObjectName[]> {
  const found: ObjectName[] = [];
  await requester.client.list(resource, {}, ({ metadata }) => void found.push(metadata));
  return found;
}
