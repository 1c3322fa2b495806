import type { KubernetesObject } from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";
import type { LiqoCondition } from "./core.ts";

/** Amounts by Kubernetes' name of the resource. */
export type ResourceList = Readonly<Record<string, string | number>>;

export type ResourceSliceCondition = LiqoCondition<"Authentication" | "Resources", "Accepted" | "Denied">;

interface ResourceSliceSpec {
  /** Filled in by Liqo on the replica. */
  readonly consumerClusterID?: string;
  readonly providerClusterID?: string;
  readonly resources?: ResourceList;
  readonly class?: string;
  readonly csr?: string;
}

interface ResourceSliceStatus {
  readonly conditions?: readonly ResourceSliceCondition[];
  /** What the provider granted. */
  readonly resources?: ResourceList;
  readonly authParams?: AuthParams;
  readonly nodeLabels?: Readonly<Record<string, string>>;
}

/** A request for resources of the provider. Kubernetes has a kind of the same name in another group. */
export type ResourceSlice = KubernetesObject<ResourceSliceSpec, ResourceSliceStatus>;

export const RESOURCE_SLICES: Resource<ResourceSlice> = {
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  isNamespaced: true,
};

/** With the full name: `kubectl delete resourceslice` reaches Kubernetes' own kind. */
export function deleteCommand({ metadata }: ResourceSlice): string {
  const { plural, group } = RESOURCE_SLICES;
  return `kubectl delete ${plural}.${group} -n ${metadata.namespace ?? ""} ${metadata.name}`;
}

/** How one cluster authenticates at another; binary parts are base64. */
export interface AuthParams {
  readonly ca?: string;
  readonly signedCRT?: string;
  readonly apiServer?: string;
  readonly proxyURL?: string;
}

interface IdentitySpec {
  /** The provider's. */
  readonly clusterID?: string;
  readonly type?: "ControlPlane" | "ResourceSlice";
  readonly authParams?: AuthParams;
  readonly namespace?: string;
}

interface IdentityStatus {
  readonly kubeconfigSecretRef?: { readonly name?: string };
}

/** On the consumer: the identity at a provider; one for Liqo itself and one per slice. */
export type Identity = KubernetesObject<IdentitySpec, IdentityStatus>;

export const IDENTITIES: Resource<Identity> = {
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Identity",
  plural: "identities",
  isNamespaced: true,
};

interface TenantSpec {
  readonly clusterID?: string;
  readonly authzPolicy?: "KeysExchange" | "TolerateNoHandshake";
  /** Base64, as the next two. */
  readonly publicKey?: string;
  readonly csr?: string;
  readonly signature?: string;
  readonly tenantCondition?: "Active" | "Cordoned" | "Drained";
}

interface TenantStatus {
  readonly tenantNamespace?: string;
  readonly authParams?: AuthParams;
}

/** On the provider: a consumer that was accepted. */
export type Tenant = KubernetesObject<TenantSpec, TenantStatus>;

export const TENANTS: Resource<Tenant> = {
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Tenant",
  plural: "tenants",
  isNamespaced: true,
};
