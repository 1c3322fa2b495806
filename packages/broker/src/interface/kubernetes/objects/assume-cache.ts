import type { ObjectMeta } from "@resource-broker/base";
import { type ObjectCache, objectKey } from "@resource-broker/kube";

/**
 * The informer's cache, plus own writes that the watch has not delivered yet. Without it, a reconcile that runs before the
 * watch has caught up would repeat its writes.
 */
export interface AssumeCache<T> {
  readonly get: (key: string) => T | undefined;
  /** The server's answer to a write. */
  readonly assume: (object: T) => void;
  /** The server says that it is gone. */
  readonly forget: (key: string) => void;
  readonly stop: () => void;
}

interface Stored {
  readonly metadata: ObjectMeta;
}

export function assumeCache<T extends Stored>(known: ObjectCache<T>, keep: (object: T) => T): AssumeCache<T> {
  const assumed = new Map<string, T>();
  const stop = known.listen((key, now) => {
    const own = assumed.get(key);
    if (own !== undefined && (now === undefined || !isNewer(own, now))) assumed.delete(key);
  });
  return {
    get: (key) => assumed.get(key) ?? known.get(key),
    assume: (object) => {
      const key = objectKey(object);
      const followed = known.get(key);
      if (followed !== undefined && isNewer(object, followed)) assumed.set(key, keep(object));
    },
    forget: (key) => void assumed.delete(key),
    stop,
  };
}

/** Versions are whole numbers in decimal digits; objects of the same name but another UID do not compare. */
function isNewer(a: Stored, b: Stored): boolean {
  const [mine, other] = [a.metadata.resourceVersion ?? "", b.metadata.resourceVersion ?? ""];
  if (a.metadata.uid !== b.metadata.uid) return false;
  return mine.length === other.length ? mine > other : mine.length > other.length;
}
