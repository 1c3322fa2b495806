import { Fault } from "@resource-broker/contract";
import type { Log } from "@resource-broker/runtime";
import type { Sink } from "../follow/sink.ts";
import { type Named, objectKey } from "./object-key.ts";

/** A server that names ever more objects must not fill the memory: then the follower is in trouble, and says so. */
const MAX_KEPT_OBJECTS = 100_000;

export interface Keeping<T extends Named, K> {
  /** What is kept of an object: as little as will do. Undefined: the object is of no interest. */
  readonly keep: (object: T) => K | undefined;
  /** Listeners hear nothing of a change that leaves what is kept the same. Absent: `Object.is`. */
  readonly isSame?: (a: K, b: K) => boolean;
}

/** Undefined `now`: it is gone. Undefined `before`: it is new. */
export type KeptListener<K> = (key: string, now: K | undefined, before: K | undefined) => void;

/** What is known, by `namespace/name` (`name` where there are no namespaces). */
export interface KeptObjects<K> {
  readonly get: (key: string) => K | undefined;
  readonly keys: () => IterableIterator<string>;
  readonly values: () => IterableIterator<K>;
  readonly size: () => number;
  /** True after the first whole list. */
  readonly synced: () => boolean;
  /** Called at once, before the next event is taken. The returned function ends it. */
  readonly listen: (listener: KeptListener<K>) => () => void;
}

interface Entry<K> {
  kept: K;
  /** The last list that it was in, or the one that went before it came by a watch. */
  round: number;
}

/**
 * A sink that keeps. A list is compared with what is known by marking each entry with the list's number: there is
 * never a second map, and what was known stays in force until the list is whole.
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
        // What is kept is right, so nobody else shall miss the change because of one bad listener.
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
      // Also across lists that break off: what they brought stays until one is whole.
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
