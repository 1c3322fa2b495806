import type { KubeClient } from "@resource-broker/kube";
import { type Tenant, TENANTS } from "../objects/tenant.ts";

/** `gone`: the provider keeps no Tenant of this cluster, or has drained it. All else is not held against it. */
export type Standing = "let-in" | "gone" | "unknown";

/** What the provider itself says; whoever may not ask, or gets no answer, does not know. */
export async function standingAt(
  namespace: string,
  connect: () => Promise<Pick<KubeClient, "list" | "close">>,
): Promise<Standing> {
  let isLetIn = false;
  const look = ({ metadata, spec }: Tenant): void => {
    isLetIn ||= metadata.deletionTimestamp === undefined && spec.tenantCondition !== "Drained";
  };
  try {
    const remote = await connect();
    await remote.list(TENANTS, { namespace }, look).finally(() => remote.close());
    return isLetIn ? "let-in" : "gone";
  } catch {
    return "unknown";
  }
}
