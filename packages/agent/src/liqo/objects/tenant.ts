import type { KubernetesObject } from "@resource-broker/contract";
import type { Resource } from "@resource-broker/kube";
import type { AuthParams } from "./resource-slice.ts";

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
