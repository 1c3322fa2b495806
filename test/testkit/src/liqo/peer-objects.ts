import {
  IDENTITIES,
  type Identity,
  LIQO_LABEL,
  RESOURCE_SLICES,
  TENANTS,
  type Tenant,
  tenantNamespaceOf,
} from "@resource-broker/agent/liqo";
import { NAMESPACES, type ObjectName, SECRETS } from "@resource-broker/kube";
import type { LiqoSite } from "./liqo-state.ts";
import { change, dropFinalizer, ensure, remove } from "./writes.ts";

const REPLICATOR_FINALIZER = "crdreplicator.liqo.io/operator";

export function controlPlaneIdentityName(providerId: string): string {
  return `controlplane-${providerId}`;
}

/** What Liqo itself signs in at the provider with. It outlives its Identity: the replicator holds it by a finalizer. */
export function controlPlaneSecret(providerId: string): Required<ObjectName> {
  return { name: `kubeconfig-controlplane-${providerId}`, namespace: tenantNamespaceOf(providerId) };
}

/** Where a cluster keeps what it shares with another. */
export async function ensureTenantNamespace({ client }: LiqoSite, otherId: string): Promise<string> {
  const name = tenantNamespaceOf(otherId);
  const labels = { [LIQO_LABEL.remoteCluster]: otherId, [LIQO_LABEL.tenantNamespace]: "true" };
  await ensure(client, NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  return name;
}

export interface Pair {
  readonly consumer: LiqoSite;
  readonly provider: LiqoSite;
}

/** The provider lets the consumer in, and the consumer holds the key to it. */
export async function authenticate({ consumer, provider }: Pair): Promise<void> {
  const providerNamespace = await ensureTenantNamespace(provider, consumer.id);
  const namespace = await ensureTenantNamespace(consumer, provider.id);
  // The Identity is first: without one a Secret is deleted, and a Secret on its way out would go with the new rights.
  const identity = await ensure(
    consumer.client,
    IDENTITIES,
    identityObject({ provider, namespace, providerNamespace }),
  );

  const tenant = await ensure(provider.client, TENANTS, tenantObject(consumer.id, providerNamespace));
  const status = { tenantNamespace: providerNamespace, authParams: { apiServer: provider.client.server } };
  const options = { subresource: "status" } as const;
  await change(provider.client, TENANTS, { name: tenant.metadata, body: { status }, options });

  await ensureSecret(consumer, provider.id);
  const secret = controlPlaneSecret(provider.id).name;
  const body = { status: { kubeconfigSecretRef: { name: secret } } };
  await change(consumer.client, IDENTITIES, { name: identity.metadata, body, options });
}

async function ensureSecret({ client }: LiqoSite, providerId: string): Promise<void> {
  await ensure(client, SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      ...controlPlaneSecret(providerId),
      labels: { [LIQO_LABEL.remoteCluster]: providerId },
      finalizers: [REPLICATOR_FINALIZER],
    },
    data: { kubeconfig: Buffer.from("the replicator's own").toString("base64") },
  });
}

/**
 * What `authenticate` made is gone, but for the namespaces. liqoctl deletes the Identity first, and the Tenant a moment
 * later; on a real Liqo the rights at the provider were often gone before the replicator had used them to clean up. Here
 * they always are.
 */
export async function removeAuthentication({ consumer, provider }: Pair): Promise<void> {
  const namespace = tenantNamespaceOf(provider.id);
  await remove(provider.client, TENANTS, { name: consumer.id, namespace: tenantNamespaceOf(consumer.id) });
  await remove(consumer.client, IDENTITIES, { name: controlPlaneIdentityName(provider.id), namespace });
}

export async function hasIdentity({ client }: LiqoSite, providerId: string): Promise<boolean> {
  const name = { name: controlPlaneIdentityName(providerId), namespace: tenantNamespaceOf(providerId) };
  return (await client.find(IDENTITIES, name)) !== undefined;
}

/** Whether the provider still grants the consumer what Liqo needs there. */
export async function hasRights({ consumer, provider }: Pair): Promise<boolean> {
  const name = { name: consumer.id, namespace: tenantNamespaceOf(consumer.id) };
  return (await provider.client.find(TENANTS, name)) !== undefined;
}

interface SecretState {
  readonly isDead: boolean;
  readonly isReachable: boolean;
  /** Called before the Secret goes. */
  readonly onGone: () => void;
}

/**
 * The Secret of an Identity comes and goes with it, once the replicator has nothing more to do with it. A liqoctl may run
 * meanwhile, so the Secret is read before the Identity that it belongs to, and the Identity before and after the rights.
 */
export async function reconcileSecret(
  pair: Pair,
  { isDead, isReachable, onGone }: SecretState,
): Promise<void> {
  const { consumer, provider } = pair;
  const { client } = consumer;
  const name = controlPlaneSecret(provider.id);
  const found = await client.find(SECRETS, name);
  if (await hasIdentity(consumer, provider.id)) return ensureSecret(consumer, provider.id);
  if (found === undefined) return;
  if (found.metadata.deletionTimestamp === undefined) await remove(client, SECRETS, name);
  const leaving = await client.find(SECRETS, name);
  if (leaving === undefined || !(isDead || (isReachable && (await isDone(pair))))) return;
  if (await hasIdentity(consumer, provider.id)) return;
  onGone();
  await dropFinalizer(client, SECRETS, { object: leaving, finalizer: REPLICATOR_FINALIZER });
}

/** The replicator ends with the last of its objects; those it deletes at the provider, as long as it may. */
async function isDone(pair: Pair): Promise<boolean> {
  const namespace = tenantNamespaceOf(pair.provider.id);
  let own = 0;
  await pair.consumer.client.list(RESOURCE_SLICES, { namespace }, ({ metadata }) => {
    if (metadata.labels?.[LIQO_LABEL.replicated] !== "true") own++;
  });
  return own === 0 && (await hasRights(pair));
}

function tenantObject(consumerId: string, namespace: string): Tenant {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: { name: consumerId, namespace, labels: { [LIQO_LABEL.remoteCluster]: consumerId } },
    spec: {
      clusterID: consumerId,
      authzPolicy: "KeysExchange",
      publicKey: Buffer.from("a public key").toString("base64"),
      csr: Buffer.from("a request").toString("base64"),
      signature: Buffer.from("a signature").toString("base64"),
      tenantCondition: "Active",
    },
  };
}

function identityObject(of: {
  readonly provider: LiqoSite;
  readonly namespace: string;
  readonly providerNamespace: string;
}): Identity {
  const { provider, namespace, providerNamespace } = of;
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Identity",
    metadata: {
      name: controlPlaneIdentityName(provider.id),
      namespace,
      labels: { [LIQO_LABEL.remoteCluster]: provider.id },
    },
    spec: {
      clusterID: provider.id,
      type: "ControlPlane",
      authParams: { apiServer: provider.client.server },
      namespace: providerNamespace,
    },
  };
}
