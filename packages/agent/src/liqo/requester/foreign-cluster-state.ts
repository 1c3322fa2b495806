import { parseTime } from "@resource-broker/base";
import type { ForeignCluster } from "../objects/core.ts";

type MaybeForeignCluster = ForeignCluster | undefined;

/** After this time without contact to the provider's API server, as Liqo reports it, a peering may be ended by force. */
export const UNREACHABLE_MS = 3_600_000;

/** True while Liqo's role of the cluster is Provider: also while the Secret outlives its Identity, often for hours. */
export function isProvider(foreignCluster: MaybeForeignCluster): boolean {
  const role = foreignCluster?.status?.role;
  return role === "Provider" || role === "ConsumerAndProvider";
}

/** True when Liqo has a live Identity at the provider. Neither the ForeignCluster nor its role proves that. */
export function isPeered(foreignCluster: MaybeForeignCluster): boolean {
  return isProvider(foreignCluster) && identityOf(foreignCluster)?.status === "Ready";
}

/** True when no Identity is left and Liqo has not cleaned up, or has not reconciled since. */
export function isTerminating(foreignCluster: MaybeForeignCluster): boolean {
  return isProvider(foreignCluster) && identityOf(foreignCluster) === undefined;
}

/** True when the other cluster is a consumer of this one. */
export function isConsumer(foreignCluster: MaybeForeignCluster): boolean {
  const role = foreignCluster?.status?.role;
  return role === "Consumer" || role === "ConsumerAndProvider";
}

/** How long Liqo has not reached the provider's API server; 0: it is reached, or unknown. Liqo keeps the time in the object. */
export function unreachableForMs(foreignCluster: MaybeForeignCluster, wallMs: number): number {
  const reach = foreignCluster?.status?.conditions?.find(({ type }) => type === "APIServerStatus");
  if (reach?.status !== "Error") return 0;
  return Math.max(0, wallMs - (parseTime(reach.lastTransitionTime ?? "") ?? wallMs));
}

function identityOf(foreignCluster: MaybeForeignCluster) {
  const conditions = foreignCluster?.status?.modules?.authentication.conditions ?? [];
  return conditions.find(({ type }) => type === "AuthIdentityControlPlaneStatus");
}
