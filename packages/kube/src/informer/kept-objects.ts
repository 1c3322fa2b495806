import { Fault } from "@resource-broker/contract";
import type { Log } from "@resource-broker/runtime";
import type { Sink } from "../follow/sink.ts";
import { type Named, objectKey } from "./object-key.ts";

/** Bounds the memory: beyond it the reflector reports a failure. */
const MAX_KEPT_OBJECTS = 100_000;

export interface Keeping<T extends Named, K> {
  /** Transforms an object to the part that is cached. Undefined: the object is not cached. */
  readonly keep: (object: T) => K | undefined;
  /** Changes that leave the cached value equal are not notified. Absent: `Object.is`. */
  readonly isSame?: (a: K, b: K) => boolean;
}

/** `now` undefined: deleted. `before` undefined: added. */
export type KeptListener<K> = (key: string, now: K | undefined, before: K | undefined) => void;

/** What is known, by `namespace/name` (`name` where there are no namespaces). */
export interface KeptObjects<K> {
  readonly get: (key: string) => K | undefined;
  readonly keys: () => IterableIterator<string>;
  readonly values: () => IterableIterator<K>;
  readonly size: () => number;
  /** True after the first whole list. */
  readonly synced: () => boolean;
  /** Called synchronously for each change. The returned function removes the listener. */
  readonly listen: (listener: KeptListener<K>) => () => void;
}

interface Entry<K> {
  kept: K;
  /** Number of the latest list when the entry was last put. */
  round: number;
}

/**
 * A sink with a cache. Each entry has the number of its latest list, so a relist needs no second map, and the known entries stay
 * valid until the list is complete.
 */
export function keptObjects<T extends Named, K>(
  { keep, isSame = Object.is }: Keeping<T, K>,
  log: Log,
): { readonly kept: KeptObjects<K>; readonly sink: Sink<T> } {
  const entries = new Map<string, Entry<K>>();
  const listeners = new Set<KeptListener<K>>();
  let round = 0;
  let isSynced = false;

  const tell = (key: string, now: K | undefined, before: K | undefined): void => {
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
    tell(key, undefined, entry.kept);
  };
  const store = (key: string, kept: K): void => {
    const entry = entries.get(key);
    if (entry === undefined) {
      // Also counts over aborted lists: their entries stay until a list is complete.
      if (entries.size >= MAX_KEPT_OBJECTS) {
        throw new Fault("malformed", `there are more than ${MAX_KEPT_OBJECTS} objects: ${key} is not kept`);
      }
      entries.set(key, { kept, round });
      tell(key, kept, undefined);
      return;
    }
    const before = entry.kept;
    entry.round = round;
    if (isSame(before, kept)) return;
    entry.kept = kept;
    tell(key, kept, before);
  };

  return {
    sink: {
      beginList: () => {
        round++;
      },
      put: (object) => {
        const kept = keep(object);
        if (kept === undefined) drop(objectKey(object));
        else store(objectKey(object), kept);
      },
      remove: (object) => drop(objectKey(object)),
      endList: () => {
        for (const [key, entry] of entries) if (entry.round !== round) drop(key);
        isSynced = true;
      },
    },
    kept: {
      get: (key) => entries.get(key)?.kept,
      keys: () => entries.keys(),
      values: function* () {
        for (const { kept } of entries.values()) yield kept;
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
