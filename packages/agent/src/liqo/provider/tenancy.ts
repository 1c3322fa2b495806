import { type KubeClient, NAMESPACES } from "@resource-broker/kube";
import { LIQO_LABEL } from "../objects/labels.ts";
import { TENANTS } from "../objects/tenant.ts";
import type { Replica } from "./judge-replica.ts";

export type Tenancy = Omit<Replica, "slice">;

export const NO_TENANT: Tenancy = { tenant: undefined, isTenantActive: false };

/**
 * The tenant of a namespace. Liqo labels the namespace when it accepts a consumer, and the consumer cannot
 * change that. It can write Tenants there, so only the Tenant with the right ID counts.
 */
export async function tenancyOf(
  namespace: string,
  client: Pick<KubeClient, "find" | "list">,
): Promise<Tenancy> {
  const labels = (await client.find(NAMESPACES, { name: namespace }))?.metadata.labels ?? {};
  const tenant = labels[LIQO_LABEL.remoteCluster];
  const label = labels[LIQO_LABEL.tenantNamespace]?.toLowerCase() ?? "false";
  if (tenant === undefined || label === "false") return NO_TENANT;
  let isTenantActive = true;
  await client.list(TENANTS, { namespace }, ({ metadata, spec }) => {
    const { clusterID, tenantCondition = "Active" } = spec;
    if (metadata.namespace === namespace && clusterID === tenant)
      isTenantActive &&= tenantCondition === "Active";
  });
  return { tenant, isTenantActive };
}
