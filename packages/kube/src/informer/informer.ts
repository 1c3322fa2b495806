import { Fault, type Log } from "@resource-broker/base";
import { reflector } from "../reflector/reflector.ts";
import type { Reflector, ReflectorDeps, ReflectorOptions, Sink } from "../reflector/types.ts";

/** Bounds the memory: beyond it the reflector reports a failure. */
const MAX_CACHED_OBJECTS = 100_000;

interface CacheOptions<T extends Named, K> {
  /** Transforms an object to the part that is cached. Undefined: the object is not cached. */
  readonly transform: (object: T) => K | undefined;
  /** Changes that leave the cached value equal are not notified. Absent: `Object.is`. */
  readonly isSame?: (a: K, b: K) => boolean;
}

/** `now` undefined: deleted. `before` undefined: added. */
export type CacheListener<K> = (key: string, now: K | undefined, before: K | undefined) => void;

/** What is known, by `namespace/name` (`name` where there are no namespaces). */
export interface ObjectCache<K> {
  readonly get: (key: string) => K | undefined;
  readonly keys: () => IterableIterator<string>;
  readonly values: () => IterableIterator<K>;
  readonly size: () => number;
  /** True after the first whole list. */
  readonly synced: () => boolean;
  /** Called synchronously for each change. The returned function removes the listener. */
  readonly listen: (listener: CacheListener<K>) => () => void;
}

interface Entry<K> {
  value: K;
  /** Number of the latest list when the entry was last put. */
  listGeneration: number;
}

/**
 * A sink with a cache. Each entry has the number of its latest list, so a relist needs no second map, and the known entries stay
 * valid until the list is complete.
 */
export function objectCache<T extends Named, K>(
  { transform, isSame = Object.is }: CacheOptions<T, K>,
  log: Log,
): { readonly kept: ObjectCache<K>; readonly sink: Sink<T> } {
  const entries = new Map<string, Entry<K>>();
  const listeners = new Set<CacheListener<K>>();
  let listGeneration = 0;
  let isSynced = false;

  const notify = (key: string, now: K | undefined, before: K | undefined): void => {
    for (const listener of listeners) {
      try {
        listener(key, now, before);
      } catch (error) {
        // A failing listener must not keep the others from the change.
        log.error({ key, error: String(error) }, "a listener of an informer failed; that is a bug");
      }
    }
  };
  const drop = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    notify(key, undefined, entry.value);
  };
  const store = (key: string, value: K): void => {
    const entry = entries.get(key);
    if (entry === undefined) {
      // Also counts over aborted lists: their entries stay until a list is complete.
      if (entries.size >= MAX_CACHED_OBJECTS) {
        throw new Fault("malformed", `there are more than ${MAX_CACHED_OBJECTS} objects: ${key} is not kept`);
      }
      entries.set(key, { value, listGeneration });
      notify(key, value, undefined);
      return;
    }
    const before = entry.value;
    entry.listGeneration = listGeneration;
    if (isSame(before, value)) return;
    entry.value = value;
    notify(key, value, before);
  };

  return {
    sink: {
      beginList: () => {
        listGeneration++;
      },
      put: (object) => {
        const value = transform(object);
        if (value === undefined) drop(objectKey(object));
        else store(objectKey(object), value);
      },
      remove: (object) => drop(objectKey(object)),
      endList: () => {
        for (const [key, entry] of entries) if (entry.listGeneration !== listGeneration) drop(key);
        isSynced = true;
      },
    },
    kept: {
      get: (key) => entries.get(key)?.value,
      keys: () => entries.keys(),
      values: function* () {
        for (const { value } of entries.values()) yield value;
      },
      size: () => entries.size,
      synced: () => isSynced,
      listen: (listener) => {
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
    },
  };
}

export type InformerOptions<T extends Named, K> = ReflectorOptions<T> & CacheOptions<T, K>;

/** A reflector with a cache of transformed objects and change listeners. */
export type Informer<K> = Reflector & ObjectCache<K>;

export function informer<T extends Named, K>(
  options: InformerOptions<T, K>,
  deps: ReflectorDeps,
): Informer<K> {
  const { kept: cache, sink } = objectCache(options, deps.log);
  return { ...reflector(options, sink, deps), ...cache };
}

/** An object with as much of its metadata as names it. */
export interface Named {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

/** `namespace/name`, or `name` for objects of no namespace. */
export function objectKey({ metadata }: Named): string {
  if (metadata?.name === undefined) throw new Fault("malformed", "an object came without metadata.name");
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}
