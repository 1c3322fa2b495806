import type { LiqoIdentity } from "@resource-broker/domain";
import type { KubeClient } from "@resource-broker/kube";
import { listTraces } from "../identity/list-traces.ts";
import { readIdentity } from "../identity/read-identity.ts";

/** Who a cluster is to Liqo; undefined: Liqo is not there. */
export async function identityAt(
  client: Pick<KubeClient, "list">,
  namespace: string,
): Promise<LiqoIdentity | undefined> {
  const reading = readIdentity(await listTraces(client, { namespace }));
  return reading.kind === "found" ? reading.identity : undefined;
}
