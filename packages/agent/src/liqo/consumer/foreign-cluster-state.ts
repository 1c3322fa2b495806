import type { ForeignCluster } from "../objects/foreign-cluster.ts";

/** True when Liqo holds credentials of the provider: that it knows the cluster does not mean that they are peered. */
export function isPeered(foreignCluster: ForeignCluster | undefined): boolean {
  const role = foreignCluster?.status?.role;
  return role === "Provider" || role === "ConsumerAndProvider";
}
