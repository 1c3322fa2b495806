import type { ObjectName, Resource } from "@resource-broker/kube";
import { until } from "../../world/until.ts";
import type { WorldCluster } from "../../world/world-cluster.ts";

export interface WaitOptions<T> {
  readonly name: ObjectName;
  readonly isAsWanted?: (object: T) => boolean;
}

/** Resolves with the object as soon as it is as wanted, in whatever namespace. */
export function untilSeen<T>(
  { client, name: cluster }: WorldCluster,
  resource: Resource<T>,
  { name, isAsWanted = () => true }: WaitOptions<T>,
): Promise<T> {
  return until(`${resource.kind} ${name.name} in ${cluster} is as wanted`, async () => {
    const object = await client.find(resource, name);
    if (object === undefined || isAsWanted(object)) return object;
    throw new Error(`it is ${JSON.stringify(object)}`);
  });
}

export async function untilGone(
  { client, name: cluster }: WorldCluster,
  resource: Resource<unknown>,
  name: ObjectName,
): Promise<void> {
  await until(`${resource.kind} ${name.name} in ${cluster} is gone`, async () => {
    const object = await client.find(resource, name);
    if (object === undefined) return true;
    throw new Error(`it is ${JSON.stringify(object)}`);
  });
}
