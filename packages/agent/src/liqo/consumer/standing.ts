import type { KubeClient } from "@resource-broker/kube";
import { type Tenant, TENANTS } from "../objects/tenant.ts";

/**
 * `gone`: the provider has no Tenant of this cluster, or has drained it; `terminating`: the Tenant is being
 * deleted. Every other case counts as accepted.
 */
export type Standing = "let-in" | "leaving" | "gone" | "unknown";

/** Asks the provider for the Tenant; a failed or forbidden call gives `unknown`. */
export async function standingAt(
  namespace: string,
  connect: () => Promise<Pick<KubeClient, "list" | "close">>,
): Promise<Standing> {
  let standing: Standing = "gone";
  const look = ({ metadata, spec }: Tenant): void => {
    if (metadata.deletionTimestamp !== undefined) standing = "leaving";
    else if (spec.tenantCondition !== "Drained") standing = "let-in";
  };
  try {
    const remote = await connect();
    await remote.list(TENANTS, { namespace }, look).finally(() => remote.close());
    return standing;
  } catch {
    return "unknown";
  }
}
