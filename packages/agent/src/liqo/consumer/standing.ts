import type { KubeClient } from "@resource-broker/kube";
import { type Tenant, TENANTS } from "../objects/tenant.ts";

/**
 * `gone`: the provider keeps no Tenant of this cluster, or has drained it; `leaving`: it is about to. All else is not held
 * against it.
 */
export type Standing = "let-in" | "leaving" | "gone" | "unknown";

/** What the provider itself says; whoever may not ask, or gets no answer, does not know. */
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
