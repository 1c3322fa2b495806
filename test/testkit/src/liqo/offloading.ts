import {
  LIQO_LABEL,
  NAMESPACE_OFFLOADING_NAME,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  type NodeSelectorRequirement,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import { NAMESPACES } from "@resource-broker/kube";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";
import { addFinalizer, change, dropFinalizer, ensure, remove } from "./writes.ts";

const FINALIZER = "namespaceoffloading-controller.liqo.io/finalizer";
const SCHEDULING_LABEL = "liqo.io/scheduling-enabled";
/** On a namespace that stands for one of another cluster. It has that cluster's label, too, as its tenant namespace has. */
const MADE_BY = "liqo.io/managed-by-namespace-map";

/** A namespace's name at the providers, by Liqo's default strategy. */
export function remoteNamespaceOf(consumerId: string, namespace: string): string {
  return `${namespace}-${consumerId}`;
}

/** Namespaces come to the providers that were chosen, and go when the offloading ends. */
export async function offloadNamespace(liqo: LiqoState, site: LiqoSite, namespace: string): Promise<void> {
  const name = { name: NAMESPACE_OFFLOADING_NAME, namespace };
  const offloading = await site.client.find(NAMESPACE_OFFLOADINGS, name);
  if (offloading === undefined) return;
  if (offloading.metadata.deletionTimestamp !== undefined) return endOffloading(liqo, site, offloading);
  await addFinalizer(site.client, NAMESPACE_OFFLOADINGS, { object: offloading, finalizer: FINALIZER });
  const isRemote = offloading.spec.podOffloadingStrategy !== "Local";
  await labelNamespace(site, namespace, isRemote ? "true" : null);
  const chosen = await chosenProviders(liqo, site, offloading);
  const left = othersOf(liqo, site).filter((provider) => !chosen.includes(provider));
  await Promise.all([
    ...chosen.map((provider) => ensureRemoteNamespace(site, provider, namespace)),
    ...left.map((provider) => removeRemoteNamespace(site, provider, namespace)),
  ]);
  const offloadingPhase = chosen.length === 0 ? "NoClusterSelected" : "Ready";
  const { generation = 1 } = offloading.metadata;
  const { status } = offloading;
  if (status?.offloadingPhase === offloadingPhase && status.observedGeneration === generation) return;
  const remoteNamespaceName = remoteNamespaceOf(site.id, namespace);
  const ready = [{ type: "Ready", status: "True", lastTransitionTime: liqo.now() }];
  const remoteNamespacesConditions = Object.fromEntries(chosen.map(({ id }) => [id, ready]));
  const body = {
    status: {
      offloadingPhase,
      remoteNamespaceName,
      observedGeneration: generation,
      remoteNamespacesConditions,
    },
  };
  await change(site.client, NAMESPACE_OFFLOADINGS, { name, body, options: { subresource: "status" } });
}

async function endOffloading(
  liqo: LiqoState,
  site: LiqoSite,
  offloading: NamespaceOffloading,
): Promise<void> {
  const { namespace = "" } = offloading.metadata;
  await labelNamespace(site, namespace, null);
  for (const provider of othersOf(liqo, site)) {
    if (!(await removeRemoteNamespace(site, provider, namespace))) return;
  }
  if (liqo.behaviours.of(NAMESPACE_OFFLOADING_NAME).stuck.includes("offloading")) return;
  await dropFinalizer(site.client, NAMESPACE_OFFLOADINGS, { object: offloading, finalizer: FINALIZER });
}

function othersOf(liqo: LiqoState, site: LiqoSite): LiqoSite[] {
  return liqo.sites.filter(({ id }) => id !== site.id && liqo.isReachable(id));
}

/** True: it is gone, or was never made for this cluster. */
async function removeRemoteNamespace(
  site: LiqoSite,
  provider: LiqoSite,
  namespace: string,
): Promise<boolean> {
  const name = remoteNamespaceOf(site.id, namespace);
  const remote = await provider.client.find(NAMESPACES, { name });
  if (remote?.metadata.annotations?.[MADE_BY] !== mapOf(site, provider)) return true;
  if (remote.metadata.deletionTimestamp === undefined) await remove(provider.client, NAMESPACES, { name });
  return (await provider.client.find(NAMESPACES, { name })) === undefined;
}

async function labelNamespace({ client }: LiqoSite, name: string, value: "true" | null): Promise<void> {
  const namespace = await client.find(NAMESPACES, { name });
  if ((namespace?.metadata.labels?.[SCHEDULING_LABEL] ?? null) === value) return;
  await change(client, NAMESPACES, {
    name: { name },
    body: { metadata: { labels: { [SCHEDULING_LABEL]: value } } },
  });
}

/**
 * Only providers with a virtual node can be chosen, by the labels of that node. Liqo goes through all of them in no order, and one
 * that is not selected takes the namespace away from its whole cluster: all nodes of a cluster must be selected, or none.
 */
async function chosenProviders(
  liqo: LiqoState,
  { client }: LiqoSite,
  { spec }: NamespaceOffloading,
): Promise<LiqoSite[]> {
  const terms = spec.clusterSelector?.nodeSelectorTerms ?? [];
  const [ids, left] = [new Set<string>(), new Set<string>()];
  await client.list(VIRTUAL_NODES, {}, ({ metadata, spec: node }) => {
    const { clusterID = "" } = node;
    const labels = {
      ...node.labels,
      [LIQO_LABEL.type]: "virtual-node",
      "kubernetes.io/hostname": metadata.name,
    };
    const isChosen =
      terms.length === 0 ||
      terms.some(
        ({ matchExpressions = [] }) =>
          matchExpressions.length > 0 && matchExpressions.every((rule) => matches(rule, labels)),
      );
    (isChosen ? ids : left).add(clusterID);
  });
  return liqo.sites.filter(({ id }) => ids.has(id) && !left.has(id) && liqo.isReachable(id));
}

function matches(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  const isListed = value !== undefined && values.includes(value);
  return operator === "In" ? isListed : operator === "NotIn" && !isListed;
}

async function ensureRemoteNamespace(site: LiqoSite, provider: LiqoSite, namespace: string): Promise<void> {
  await ensure(provider.client, NAMESPACES, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: remoteNamespaceOf(site.id, namespace),
      labels: { [LIQO_LABEL.remoteCluster]: site.id },
      annotations: { [MADE_BY]: mapOf(site, provider), "liqo.io/original-name": namespace },
    },
  });
}

function mapOf(site: LiqoSite, provider: LiqoSite): string {
  return `${tenantNamespaceOf(site.id)}/${provider.id}`;
}
