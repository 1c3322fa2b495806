import { Fault } from "@resource-broker/base";
import type { ConfigMap, KubeClient, ObjectName, Resource } from "@resource-broker/kube";

/** The objects of an API server, without the server: versions and conflicts, and nothing else. */
export interface MemoryKube {
  readonly client: KubeClient;
  readonly names: () => string[];
}

interface Stored {
  readonly metadata: ConfigMap["metadata"];
}

export function memoryKube(): MemoryKube {
  const objects = new Map<string, Stored>();
  let version = 0;

  const keyOf = (resource: Resource<unknown>, { name, namespace = "" }: ObjectName): string =>
    `${resource.plural}/${namespace}/${name}`;
  const store = (key: string, object: Stored): Stored => {
    const metadata = { ...object.metadata, resourceVersion: String(++version) };
    const stored: Stored = JSON.parse(JSON.stringify({ ...object, metadata })) as Stored;
    objects.set(key, stored);
    return stored;
  };
  const known = (key: string): Stored => {
    const found = objects.get(key);
    if (found === undefined) throw new Fault("not-found", `there is no ${key}`);
    return found;
  };
  const unasked = (): never => {
    throw new Error("nobody asks for this");
  };
  /** Whoever asks knows what is there. */
  const as = <T>(object: Stored | undefined): T => object as T;
  const stored = (object: unknown): Stored => object as Stored;

  const client: KubeClient = {
    server: "memory",
    get: async (resource, name) => as(known(keyOf(resource, name))),
    find: async (resource, name) => as(objects.get(keyOf(resource, name))),
    list: async (resource, _, each) => {
      const found = [...objects].filter(([key]) => key.startsWith(`${resource.plural}/`));
      for (const [, object] of found)
        if (object.metadata.labels?.["broker.fluidos.eu/ledger"] !== "head") each(as(object));
      return { resourceVersion: String(version), count: found.length };
    },
    watch: (_, { signal }) => silentUntil(signal),
    create: async (resource, object) => {
      const key = keyOf(resource, stored(object).metadata);
      if (objects.has(key)) throw new Fault("already-exists", `${key} is there`);
      return as(store(key, stored(object)));
    },
    update: async (resource, object) => {
      const { metadata } = stored(object);
      const key = keyOf(resource, metadata);
      if (known(key).metadata.resourceVersion !== metadata.resourceVersion)
        throw new Fault("conflict", `${key} has changed`);
      return as(store(key, stored(object)));
    },
    delete: async (resource, name) => {
      const key = keyOf(resource, name);
      known(key);
      objects.delete(key);
    },
    patch: unasked,
    apply: unasked,
    read: unasked,
    close: () => undefined,
  };
  return { client, names: () => [...objects.keys()] };
}

/** A watch that has nothing to tell. */
function silentUntil(signal: AbortSignal | undefined): AsyncIterable<never> {
  const next = (): Promise<IteratorResult<never>> =>
    new Promise((resolve) => {
      const end = (): void => resolve({ done: true, value: undefined });
      if (signal?.aborted === true) end();
      else signal?.addEventListener("abort", end);
    });
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
