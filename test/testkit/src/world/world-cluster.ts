import { writeFile } from "node:fs/promises";
import type { Log } from "@resource-broker/base";
import { createKubeClient, type KubeClient, loadKubeConfig, type Resource } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import { until } from "./until.ts";

const NAMESPACE = "default";
const silent = (): void => undefined;
const NO_LOG: Log = { info: silent, warn: silent, error: silent };

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
  const config = await loadKubeConfig({ files: [kubeconfigFile], env: {} });
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const client = createKubeClient(config, { clock, log: NO_LOG, env: {}, userAgent: "world" });
  const find: WorldCluster["find"] = (resource, objectName) =>
    client.find(resource, { name: objectName, namespace: NAMESPACE });
  return {
    name,
    kubeconfigFile,
    kubeconfig,
    client,
    find,
    list: async <T>(resource: Resource<T>) => {
      const found: T[] = [];
      await client.list(resource, { namespace: NAMESPACE }, (object) => void found.push(object));
      return found;
    },
    until: (resource, objectName, isAsWanted = () => true) =>
      until(`${resource.kind} ${objectName} in ${name} is as wanted`, async () => {
        const object = await find(resource, objectName);
        if (object === undefined || isAsWanted(object)) return object;
        throw new Error(`it is ${JSON.stringify(object)}`);
      }),
    untilGone: async (resource, objectName) => {
      await until(`${resource.kind} ${objectName} in ${name} is gone`, async () => {
        const object = await find(resource, objectName);
        if (object === undefined) return true;
        throw new Error(`it is ${JSON.stringify(object)}`);
      });
    },
  };
}
