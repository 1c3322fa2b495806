import {
  type ConfigMap,
  type KubeClient,
  NAMESPACES,
  type ObjectName,
  type Resource,
  SERVICE_ACCOUNTS,
} from "@resource-broker/kube";
import type { ListQuery } from "@resource-broker/kube/testing";
import { until } from "../world/until.ts";

/** An API server, and ways to it. Promises share it: each works in a namespace of its own. */
export interface KubeUnderTest {
  readonly kind: "kube-sim" | "real";
  readonly client: KubeClient;
  /** The same rights, other connections. */
  readonly other: KubeClient;
  /** Shows a token that the server does not know. */
  readonly unauthenticated: KubeClient;
  /** Somebody with the rights of a service account that is there, and no others. */
  readonly accountClient: (account: Required<ObjectName>) => Promise<KubeClient>;
  /** What the server answers to kubectl, which asks for tables. */
  readonly readTable: (path: string) => Promise<Table>;
  /** Takes the memory of every version so far from the server. Connections may break. */
  readonly compact: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** One promise of our client and the server together: `keep` throws when they break it. */
export interface KubePromise {
  readonly name: string;
  readonly keep: (server: KubeUnderTest) => Promise<void>;
}

/** What a promise works with. */
export interface Setup extends KubeUnderTest {
  /** Its own; pods can be created in it. */
  readonly namespace: string;
  /** The name of something outside of namespaces, which nobody else uses. */
  readonly unique: (name: string) => string;
  readonly in: (name: string) => Required<ObjectName>;
}

let setups = 0;

export function promise(name: string, body: (scene: Setup) => Promise<void>): KubePromise {
  const keep = async (server: KubeUnderTest) => {
    setups += 1;
    const namespace = `promise-${setups}`;
    await createNamespace(server.client, namespace);
    try {
      await body({
        ...server,
        namespace,
        unique: (each) => `${each}-${namespace}`,
        in: (each) => ({ name: each, namespace }),
      });
    } finally {
      await server.client.delete(NAMESPACES, { name: namespace }).catch(() => undefined);
    }
  };
  return { name, keep };
}

/** Creates a namespace and waits for what pods need there. */
async function createNamespace(client: KubeClient, name: string): Promise<void> {
  await client.create(NAMESPACES, { metadata: { name } });
  await until(`${name} has a service account`, () =>
    client.find(SERVICE_ACCOUNTS, { name: "default", namespace: name }),
  );
}

export async function listed<T>(client: KubeClient, resource: Resource<T>, query: ListQuery): Promise<T[]> {
  const found: T[] = [];
  await client.list(resource, query, (object) => void found.push(object));
  return found;
}

interface MaybeNamed {
  readonly metadata?: { readonly name?: string };
}

export function namesOf(objects: readonly MaybeNamed[]): string[] {
  return objects.map(({ metadata }) => metadata?.name ?? "").toSorted();
}

/** A ConfigMap of the scene. */
export function configMap(
  { namespace }: Pick<Setup, "namespace">,
  name: string,
  {
    metadata,
    ...rest
  }: Partial<Omit<ConfigMap, "metadata">> & {
    readonly metadata?: Partial<ConfigMap["metadata"]>;
  } = {},
): ConfigMap {
  return { ...rest, metadata: { ...metadata, name, namespace } };
}

/** A guard only: the namespace controller looks again after 15 s where something was held. */
const GONE_WITHIN_MS = 90_000;

/** Resolves when there is no such object any more. */
export async function untilGone(
  client: KubeClient,
  resource: Resource<unknown>,
  name: ObjectName,
): Promise<void> {
  const isGone = async () => {
    const found = await client.find(resource, name);
    if (found === undefined) return true;
    throw new Error(`it is ${JSON.stringify(found)}`);
  };
  await until(`${resource.kind} ${name.name} is gone`, isGone, GONE_WITHIN_MS);
}
