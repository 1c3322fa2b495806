import {
  IDENTITIES,
  LIQO_LABEL,
  TENANTS,
  type Identity,
  type Tenant,
  tenantNamespaceOf,
} from "@resource-broker/agent";
import { NAMESPACES, SECRETS } from "@resource-broker/kube";
import type { LiqoSite } from "./site.ts";
import { change, ensure, remove } from "./writes.ts";

export function controlPlaneIdentityName(providerId: string): string {
  return `controlplane-${providerId}`;
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
  const tenant = await ensure(provider.client, TENANTS, tenantObject(consumer.id, providerNamespace));
  const status = { tenantNamespace: providerNamespace, authParams: { apiServer: provider.client.server } };
  const options = { subresource: "status" } as const;
  await change(provider.client, TENANTS, { name: tenant.metadata, body: { status }, options });

  const namespace = await ensureTenantNamespace(consumer, provider.id);
  const secret = `kubeconfig-controlplane-${provider.id}`;
  await ensure(consumer.client, SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secret, namespace, labels: { [LIQO_LABEL.remoteCluster]: provider.id } },
    data: { kubeconfig: Buffer.from("the replicator's own").toString("base64") },
  });
  const identity = await ensure(
    consumer.client,
    IDENTITIES,
    identityObject({ provider, namespace, providerNamespace }),
  );
  const body = { status: { kubeconfigSecretRef: { name: secret } } };
  await change(consumer.client, IDENTITIES, { name: identity.metadata, body, options });
}

/** What `authenticate` made is gone, but for the namespaces. */
export async function forget({ consumer, provider }: Pair): Promise<void> {
  const namespace = tenantNamespaceOf(provider.id);
  await remove(consumer.client, IDENTITIES, { name: controlPlaneIdentityName(provider.id), namespace });
  await remove(consumer.client, SECRETS, { name: `kubeconfig-controlplane-${provider.id}`, namespace });
  await remove(provider.client, TENANTS, { name: consumer.id, namespace: tenantNamespaceOf(consumer.id) });
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
      labels: { [LIQO_LABEL.remoteCluster]: provider.id, "liqo.io/identity-type": "ControlPlane" },
    },
    spec: {
      clusterID: provider.id,
      type: "ControlPlane",
      authParams: { apiServer: provider.client.server },
      namespace: providerNamespace,
    },
  };
}
