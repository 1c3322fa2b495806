import {
  LIQO_LABEL,
  QUOTAS,
  SHADOW_PODS,
  type ShadowPod,
  tenantNamespaceOf,
} from "@resource-broker/agent/liqo";
import { NAMESPACES, type ObjectName } from "@resource-broker/kube";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";
import { remoteNamespaceOf } from "./offloading.ts";
import { WHOLE_NODES, WHOLE_PODS, type WholePod } from "./plain-kinds.ts";
import { creatorUser } from "./provide-slice.ts";
import { change, ensure, ownedBy, remove } from "./writes.ts";

/** A pod on a virtual node has a ShadowPod at the provider for as long as it is there. */
export async function reflectPod(liqo: LiqoState, site: LiqoSite, name: Required<ObjectName>): Promise<void> {
  const pod = await site.client.find(WHOLE_PODS, name);
  const provider = await providerOf(liqo, site, pod);
  const remote = { name: name.name, namespace: remoteNamespaceOf(site.id, name.namespace) };
  const others = liqo.sites.filter(({ id }) => id !== site.id && liqo.isReachable(id));
  for (const other of others) if (other.id !== provider?.id) await dropShadowPod(site, other, remote);
  if (pod === undefined || provider === undefined || !others.includes(provider)) return;
  await mark(site, pod);
  if (pod.metadata.deletionTimestamp !== undefined) return dropShadowPod(site, provider, remote);
  if (!(await isNamespaceThere(provider, remote.namespace))) return leaveStuck(site, pod);
  await ensureShadowPod({ site, provider, remote }, pod);
}

async function mark({ client }: LiqoSite, { metadata }: WholePod): Promise<void> {
  if (metadata.labels?.[LIQO_LABEL.shadowPod] === "true") return;
  const body = { metadata: { labels: { [LIQO_LABEL.shadowPod]: "true" } } };
  await change(client, WHOLE_PODS, { name: metadata, body });
}

async function isNamespaceThere({ client }: LiqoSite, name: string): Promise<boolean> {
  const namespace = await client.find(NAMESPACES, { name });
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}

/** Without its namespace at the provider a pod that ran has failed, and one that did not never will; Liqo lets both be. */
async function leaveStuck({ client }: LiqoSite, { metadata, status }: WholePod): Promise<void> {
  const hasRun = metadata.labels?.[LIQO_LABEL.shadowPod] === "true";
  const [phase, reason] = hasRun ? ["Failed", "OffloadingAborted"] : ["Pending", "OffloadingBackOff"];
  if (status?.reason !== undefined) return;
  const options = { subresource: "status" } as const;
  await change(client, WHOLE_PODS, { name: metadata, body: { status: { phase, reason } }, options });
}

/** Whose virtual node it runs on. */
async function providerOf(
  liqo: LiqoState,
  { client }: LiqoSite,
  pod: WholePod | undefined,
): Promise<LiqoSite | undefined> {
  const name = pod?.spec?.nodeName;
  if (name === undefined) return undefined;
  const node = await client.find(WHOLE_NODES, { name });
  if (node?.metadata.labels?.[LIQO_LABEL.type] !== "virtual-node") return undefined;
  return liqo.site(node.metadata.labels[LIQO_LABEL.remoteCluster] ?? "");
}

async function dropShadowPod(site: LiqoSite, provider: LiqoSite, name: ObjectName): Promise<void> {
  const shadow = await provider.client.find(SHADOW_PODS, name);
  if (shadow?.metadata.labels?.[LIQO_LABEL.podOrigin] !== site.id) return;
  await remove(provider.client, SHADOW_PODS, name);
}

interface Reflected {
  readonly site: LiqoSite;
  readonly provider: LiqoSite;
  readonly remote: Required<ObjectName>;
}

async function ensureShadowPod({ site, provider, remote }: Reflected, pod: WholePod): Promise<void> {
  const node = pod.spec?.nodeName ?? "";
  const user = creatorUser(node, site.id);
  const quota = await provider.client.find(QUOTAS, { name: user, namespace: tenantNamespaceOf(site.id) });
  // Liqo's webhook lets nobody in without a quota, nor past one that is cordoned.
  if (quota === undefined || quota.spec.cordoned === true) return;
  // Volumes of the consumer's service account are of no use here.
  const containers = (pod.spec?.containers ?? []).map(({ name, image, resources = {} }) => ({
    name,
    image,
    resources,
  }));
  const { [LIQO_LABEL.shadowPod]: _, ...labels } = pod.metadata.labels ?? {};
  const shadow: ShadowPod = {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "ShadowPod",
    metadata: {
      ...remote,
      labels: {
        ...labels,
        [LIQO_LABEL.podOrigin]: site.id,
        "offloading.liqo.io/destination": provider.id,
        [LIQO_LABEL.podNode]: node,
        [LIQO_LABEL.creatorUser]: user,
      },
    },
    spec: { pod: { containers, terminationGracePeriodSeconds: 0 } },
  };
  await ensure(provider.client, SHADOW_PODS, shadow);
}

/** The provider's side: a ShadowPod makes its pod, and again when the pod is deleted. */
export async function runShadowPod(site: LiqoSite, name: Required<ObjectName>): Promise<void> {
  const shadow = await site.client.find(SHADOW_PODS, name);
  if (shadow === undefined || shadow.metadata.deletionTimestamp !== undefined) return;
  await ensure(site.client, WHOLE_PODS, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...name,
      labels: { ...shadow.metadata.labels, [LIQO_LABEL.managedBy]: "shadowpod" },
      ...ownedBy(shadow, SHADOW_PODS),
    },
    spec: {
      ...shadow.spec.pod,
      ...(site.guestsRunOn === undefined ? {} : { nodeName: site.guestsRunOn }),
    },
  });
}
