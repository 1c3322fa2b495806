import {
  FOREIGN_CLUSTERS,
  LIQO_LABEL,
  RESOURCE_SLICES,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import { NAMESPACES, type ObjectName, type Resource } from "@resource-broker/kube";
import { UNREACHABLE_ANNOTATION } from "./foreign-clusters.ts";
import type { LiqoSite } from "./liqo-state.ts";
import { authenticate, ensureTenantNamespace, type Pair, removeAuthentication } from "./peer-objects.ts";
import { change, remove } from "./writes.ts";

/** Resolves when anything has changed in any cluster; rejects when the wait is broken off. */
export type NextChange = () => Promise<void>;

/** What `liqoctl peer` does: each side gets the other's namespace, and the consumer its key. Slices are another matter. */
export async function peer(pair: Pair): Promise<void> {
  await ensureTenantNamespace(pair.consumer, pair.provider.id);
  await ensureTenantNamespace(pair.provider, pair.consumer.id);
  await authenticate(pair);
}

/** Half of a peering: a liqoctl that was broken off, or ran out of time, while it made the network. */
export async function peerHalf({ consumer, provider }: Pair): Promise<void> {
  await ensureTenantNamespace(consumer, provider.id);
  await ensureTenantNamespace(provider, consumer.id);
}

/** What `liqoctl unpeer` does: every slice to that provider goes, whoever made it, then the keys. */
export async function unpeer(pair: Pair, nextChange: NextChange): Promise<void> {
  const { consumer, provider } = pair;
  const labelSelector = `${LIQO_LABEL.replication}=true,${LIQO_LABEL.destination}=${provider.id}`;
  await removeAll({ site: consumer, resource: RESOURCE_SLICES, labelSelector, nextChange });
  const ofProvider = `${LIQO_LABEL.remoteCluster}=${provider.id}`;
  await removeAll({ site: consumer, resource: VIRTUAL_NODES, labelSelector: ofProvider, nextChange });
  await removeAuthentication(pair);
}

/** What `liqoctl unauthenticate` does: the keys go, unless a slice uses them; the network stays. */
export async function unauthenticate(pair: Pair): Promise<"done" | "in-use"> {
  const { consumer, provider } = pair;
  const labelSelector = `${LIQO_LABEL.replication}=true,${LIQO_LABEL.destination}=${provider.id}`;
  const { count } = await consumer.client.list(RESOURCE_SLICES, { labelSelector }, () => undefined);
  if (count > 0) return "in-use";
  await removeAuthentication(pair);
  return "done";
}

/** What `liqoctl force unpeer` does: the provider is given up, and all that is kept of it here goes, whatever it borrows here with it. */
export async function forceUnpeer(site: LiqoSite, otherId: string, nextChange: NextChange): Promise<void> {
  const body = { metadata: { annotations: { [UNREACHABLE_ANNOTATION]: "true" } } };
  await change(site.client, FOREIGN_CLUSTERS, { name: { name: otherId }, body });
  const name = { name: tenantNamespaceOf(otherId) };
  await remove(site.client, NAMESPACES, name);
  while ((await site.client.find(NAMESPACES, name)) !== undefined) await nextChange();
}

interface Removal {
  readonly site: LiqoSite;
  readonly resource: Resource<{ readonly metadata: ObjectName }>;
  readonly labelSelector: string;
  readonly nextChange: NextChange;
}

async function removeAll({ site, resource, labelSelector, nextChange }: Removal): Promise<void> {
  const listed = async (): Promise<ObjectName[]> => {
    const names: ObjectName[] = [];
    await site.client.list(resource, { labelSelector }, ({ metadata }) => void names.push(metadata));
    return names;
  };
  for (const name of await listed()) await remove(site.client, resource, name);
  while ((await listed()).length > 0) await nextChange();
}
