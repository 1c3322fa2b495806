import { Fault } from "@resource-broker/contract";
import { CONFIG_MAPS, type ConfigMap, type KubeClient, type Resource } from "@resource-broker/kube";
import {
  CLUSTER_ID_SELECTOR,
  CONTROLLER_SELECTOR,
  type Deployment,
  DEPLOYMENTS,
  isLabelled,
  type LiqoInstallation,
} from "./read-identity.ts";

export interface InstallationQuery {
  /** Where Liqo is installed. */
  readonly namespace: string;
  readonly signal?: AbortSignal;
}

/** The objects that identify Liqo. An account without access to Deployments gets no version. */
export async function listInstallation(
  client: Pick<KubeClient, "list">,
  query: InstallationQuery,
): Promise<LiqoInstallation> {
  const listed = async <T extends Deployment | ConfigMap>(
    resource: Resource<T>,
    labelSelector: string,
  ): Promise<T[]> => {
    const found: T[] = [];
    await client.list(resource, { ...query, labelSelector }, (object) => {
      if (isLabelled(object, labelSelector)) found.push(object);
    });
    return found;
  };
  const configMaps = await listed(CONFIG_MAPS, CLUSTER_ID_SELECTOR);
  if (configMaps.length === 0) return { configMaps, deployments: [] };
  const deployments = await listed(DEPLOYMENTS, CONTROLLER_SELECTOR).catch(emptyIfForbidden);
  return { configMaps, deployments };
}

function emptyIfForbidden(error: unknown): [] {
  if (error instanceof Fault && (error.code === "forbidden" || error.code === "not-found")) return [];
  throw error;
}
