import { writeFile } from "node:fs/promises";
import type { KubeClient, Resource } from "@resource-broker/kube";
import { listed, untilGone } from "../kube/kube-promise.ts";
import { kubeClientFor } from "../kube/kube-servers.ts";
import { until } from "./until.ts";

const NAMESPACE = "default";

/** One cluster as its users see it. Names are those of the namespace default. */
export interface WorldCluster {
  readonly name: string;
  readonly kubeconfigFile: string;
  readonly kubeconfig: string;
  readonly client: KubeClient;
  readonly find: <T>(resource: Resource<T>, name: string) => Promise<T | undefined>;
  readonly list: <T>(resource: Resource<T>) => Promise<T[]>;
  /** Resolves with the object as soon as it is there and is as wanted. */
  readonly until: <T>(resource: Resource<T>, name: string, isAsWanted?: (object: T) => boolean) => Promise<T>;
  readonly untilGone: (resource: Resource<unknown>, name: string) => Promise<void>;
}

type ClusterAccess = Pick<WorldCluster, "name" | "kubeconfigFile" | "kubeconfig">;

/** A cluster by its kubeconfig: it does not matter who serves it. */
export async function worldCluster({
  name,
  kubeconfigFile,
  kubeconfig,
}: ClusterAccess): Promise<WorldCluster> {
  await writeFile(kubeconfigFile, kubeconfig, { mode: 0o600 });
  const client = kubeClientFor(kubeconfig);
  const find: WorldCluster["find"] = (resource, objectName) =>
    client.find(resource, { name: objectName, namespace: NAMESPACE });
  return {
    name,
    kubeconfigFile,
    kubeconfig,
    client,
    find,
    list: (resource) => listed(client, resource, { namespace: NAMESPACE }),
    until: (resource, objectName, isAsWanted = () => true) =>
      until(`${resource.kind} ${objectName} in ${name} is as wanted`, async () => {
        const object = await find(resource, objectName);
        if (object === undefined || isAsWanted(object)) return object;
        throw new Error(`it is ${JSON.stringify(object)}`);
      }),
    untilGone: (resource, objectName) =>
      untilGone(client, resource, { name: objectName, namespace: NAMESPACE }),
  };
}
