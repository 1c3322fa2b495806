import type { KubeClient } from "@resource-broker/kube";
import { type Tenant, TENANTS } from "../objects/authentication.ts";
import type { JobResult } from "./peering-job-runner.ts";

/**
 * `gone`: the provider has no Tenant of this cluster, or has drained it; `terminating`: the Tenant is being
 * deleted. Every other case counts as accepted.
 */
export type TenantStatus = "admitted" | "terminating" | "gone" | "unknown";

/** Asks the provider for the Tenant; a failed or forbidden call gives `unknown`. */
export async function tenantStatusAt(
  namespace: string,
  connect: () => Promise<Pick<KubeClient, "list" | "close">>,
): Promise<TenantStatus> {
  let status: TenantStatus = "gone";
  const look = ({ metadata, spec }: Tenant): void => {
    if (metadata.deletionTimestamp !== undefined) status = "terminating";
    else if (spec.tenantCondition !== "Drained") status = "admitted";
  };
  try {
    const remote = await connect();
    await remote.list(TENANTS, { namespace }, look).finally(() => remote.close());
    return status;
  } catch {
    return "unknown";
  }
}

/** Peers in Liqo need the same minor version. An unknown version is accepted. */
export function versionProblem(
  { clusterId }: { readonly clusterId: string },
  here: string,
  there: string,
): JobResult {
  const [own, other] = [minorOf(here), minorOf(there)];
  if (own === undefined || other === undefined || own === other) return undefined;
  return {
    reason: "VersionMismatch",
    message: `this cluster has Liqo ${here} and ${clusterId} has ${there}: they peer only when both are of one minor version`,
  };
}

function minorOf(version: string): string | undefined {
  return /^v?(\d+\.\d+)(?:\.|$)/.exec(version)?.[1];
}
