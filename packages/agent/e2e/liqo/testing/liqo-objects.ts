import {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  LIQO_LABEL,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  SHADOW_PODS,
  TENANTS,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import { CONFIG_MAPS, type ObjectName, type Resource } from "@resource-broker/kube";
import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  until,
  WHOLE_NODES,
  type WorldCluster,
} from "@resource-broker/testkit";

interface Listed {
  readonly metadata: ObjectName & { readonly labels?: Readonly<Record<string, string>> };
}

/** All that peering and borrowing can leave in a cluster. */
const KINDS: readonly Resource<Listed>[] = [
  RESERVATION_INSTRUCTIONS,
  PROVIDER_INSTRUCTIONS,
  RESOURCE_SLICES,
  VIRTUAL_NODES,
  NAMESPACE_OFFLOADINGS,
  IDENTITIES,
  TENANTS,
  QUOTAS,
  SHADOW_PODS,
];

async function listed<T>(
  { client }: WorldCluster,
  resource: Resource<T>,
  labelSelector?: string,
): Promise<T[]> {
  const found: T[] = [];
  await client.list(
    resource,
    labelSelector === undefined ? {} : { labelSelector },
    (object) => void found.push(object),
  );
  return found;
}

/** Whatever is left there of any reservation or peering, as `Kind name`. */
export async function liqoObjectsIn(cluster: WorldCluster): Promise<string[]> {
  const named = (kind: string, objects: readonly Listed[]): string[] =>
    objects.map(({ metadata }) => `${kind} ${metadata.name}`);
  const plain = await Promise.all(
    KINDS.map(async (resource) => named(resource.kind, await listed(cluster, resource))),
  );
  const nodes = await listed(cluster, WHOLE_NODES, `${LIQO_LABEL.type}=virtual-node`);
  const markers = await listed(cluster, CONFIG_MAPS, "rear.fluidos.eu/liqo-peering=true");
  // Liqo never deletes them: what counts is whether they still say that there is a peering.
  const foreign = (await listed(cluster, FOREIGN_CLUSTERS)).filter(
    ({ status }) => status?.role !== "Unknown",
  );
  return [
    ...plain.flat(),
    ...named("Node", nodes),
    ...named("marker", markers),
    ...named("ForeignCluster", foreign),
  ].sort();
}

/** A cleaning that takes its time: whoever is gone in two lists half a minute apart is gone. */
export const CLEANUP_TIMEOUT_MS = 100_000;

/** Resolves when nothing is left in any of them. */
export async function untilClean(clusters: readonly WorldCluster[], withinMs?: number): Promise<void> {
  for (const cluster of clusters) {
    const look = async (): Promise<true> => {
      const left = await liqoObjectsIn(cluster);
      if (left.length === 0) return true;
      throw new Error(left.join(", "));
    };
    await until(`nothing is left in ${cluster.name}`, look, withinMs);
  }
}
