import type { LiqoIdentity } from "@resource-broker/domain";
import type { KubeClient } from "@resource-broker/kube";
import { listInstallation } from "../identity/list-traces.ts";
import { readIdentity } from "../identity/read-identity.ts";

/** The identity of a cluster in Liqo; undefined: Liqo is not installed. */
export async function identityAt(
  client: Pick<KubeClient, "list">,
  namespace: string,
): Promise<LiqoIdentity | undefined> {
  const reading = readIdentity(await listInstallation(client, { namespace }));
  return reading.kind === "found" ? reading.identity : undefined;
}
