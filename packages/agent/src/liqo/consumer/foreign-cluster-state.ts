import { parseTime } from "@resource-broker/contract";
import type { ForeignCluster } from "../objects/foreign-cluster.ts";

type Seen = ForeignCluster | undefined;

/** A provider whose API server has been silent for so long, as Liqo saw it, may be given up by force. */
export const SILENT_MS = 3_600_000;

/** True while Liqo counts the cluster as a provider: also for the Secret that outlives its Identity, often for hours. */
export function isHeld(foreignCluster: Seen): boolean {
  const role = foreignCluster?.status?.role;
  return role === "Provider" || role === "ConsumerAndProvider";
}

/** True when Liqo holds a live Identity at the provider: neither that it knows the cluster nor its role means that. */
export function isPeered(foreignCluster: Seen): boolean {
  return isHeld(foreignCluster) && identityOf(foreignCluster)?.status === "Ready";
}

/** True when no Identity is left, and Liqo has not let go of all that belonged to it, or has not looked since. */
export function isLettingGo(foreignCluster: Seen): boolean {
  return isHeld(foreignCluster) && identityOf(foreignCluster) === undefined;
}

/** True when the other cluster borrows from this one. */
export function borrowsHere(foreignCluster: Seen): boolean {
  const role = foreignCluster?.status?.role;
  return role === "Consumer" || role === "ConsumerAndProvider";
}

/** How long Liqo has not reached the provider's API server; 0: it reaches it, or cannot say. It is kept in the object. */
export function silentForMs(foreignCluster: Seen, wallMs: number): number {
  const reach = foreignCluster?.status?.conditions?.find(({ type }) => type === "APIServerStatus");
  if (reach?.status !== "Error") return 0;
  return Math.max(0, wallMs - (parseTime(reach.lastTransitionTime ?? "") ?? wallMs));
}

function identityOf(foreignCluster: Seen) {
  const conditions = foreignCluster?.status?.modules?.authentication.conditions ?? [];
  return conditions.find(({ type }) => type === "AuthIdentityControlPlaneStatus");
}
