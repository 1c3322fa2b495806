import { Fault } from "@resource-broker/base";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { AnyObject, ObjectKind } from "./kinds.ts";
import type { OpenCluster } from "./open-cluster.ts";

export interface Wanted {
  /** Undefined: every namespace. */
  readonly namespace: string | undefined;
  /** One object; undefined: all of them. */
  readonly name?: string | undefined;
  readonly selector?: string | undefined;
}

/** Sorted by namespace and name. */
export async function listObjects<T extends AnyObject>(
  { client }: OpenCluster,
  kind: ObjectKind<T>,
  { namespace, selector }: Wanted,
): Promise<readonly T[]> {
  const found: T[] = [];
  const query = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(selector === undefined ? {} : { labelSelector: selector }),
  };
  try {
    await client.list(kind.resource, query, (object) => void found.push(object));
  } catch (error) {
    throw isMissing(error) ? unknownKind(client.server, kind, error) : error;
  }
  return found.toSorted(byName);
}

export async function readObject<T extends AnyObject>(
  cluster: OpenCluster,
  kind: ObjectKind<T>,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<T> {
  const found = await cluster.client.find(kind.resource, { name, namespace });
  if (found !== undefined) return found;
  throw await unknownObject(cluster, [kind], { name, namespace });
}

/** Says what there is instead, and in which namespace it was looked for: mostly it is in another one. */
export async function unknownObject(
  cluster: OpenCluster,
  kinds: readonly ObjectKind<AnyObject>[],
  { name, namespace }: { readonly name: string; readonly namespace: string | undefined },
): Promise<CommandError> {
  const [kind] = kinds;
  const lists = await Promise.all(kinds.map((each) => listObjects(cluster, each, { namespace })));
  const names = lists.flat().map(({ metadata }) => metadata.name);
  const hint = await didYouMean(name, names);
  const place = namespace === undefined ? "in any namespace" : `in namespace ${namespace}`;
  const remedy = hint === "" && namespace !== undefined ? "; -n names another" : hint;
  return new CommandError("error", `there is no ${kind?.noun} ${JSON.stringify(name)} ${place}${remedy}`);
}

function byName({ metadata: a }: AnyObject, { metadata: b }: AnyObject): number {
  const [one, other] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`];
  return one < other ? -1 : Number(one > other);
}

function isMissing(error: unknown): boolean {
  return error instanceof Fault && error.code === "not-found";
}

function unknownKind(server: string, { resource }: ObjectKind<AnyObject>, cause: unknown): CommandError {
  return new CommandError(
    "error",
    `${server} knows no ${resource.kind}: is it the cluster you mean (--context)? Then first: kubectl apply --server-side -f deploy/crds`,
    { cause },
  );
}
