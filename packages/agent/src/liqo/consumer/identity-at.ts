import { Fault } from "@resource-broker/contract";
import type { LiqoIdentity } from "@resource-broker/domain";
import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import {
  CLUSTER_ID_SELECTOR,
  CONTROLLER_SELECTOR,
  type Deployment,
  DEPLOYMENTS,
  isLabelled,
  readIdentity,
} from "../identity/read-identity.ts";

/** Who a cluster is to Liqo; undefined: Liqo is not there. A peering user may not see the version. */
export async function identityAt(
  client: Pick<KubeClient, "list">,
  namespace: string,
): Promise<LiqoIdentity | undefined> {
  const configMaps: ConfigMap[] = [];
  await client.list(CONFIG_MAPS, { namespace, labelSelector: CLUSTER_ID_SELECTOR }, (object) => {
    if (isLabelled(object, CLUSTER_ID_SELECTOR)) configMaps.push(object);
  });
  const deployments: Deployment[] = [];
  const query = { namespace, labelSelector: CONTROLLER_SELECTOR };
  await client
    .list(DEPLOYMENTS, query, (object) => {
      if (isLabelled(object, CONTROLLER_SELECTOR)) deployments.push(object);
    })
    .catch(unlessForbidden);
  const reading = readIdentity({ configMaps, deployments });
  return reading.kind === "found" ? reading.identity : undefined;
}

function unlessForbidden(error: unknown): void {
  if (!(error instanceof Fault) || (error.code !== "forbidden" && error.code !== "not-found")) throw error;
}
