import { reflector } from "../follow/follow.ts";
import type { Reflector, ReflectorDeps, ReflectorOptions } from "../follow/follower.ts";
import { type CacheOptions, type ObjectCache, objectCache } from "./kept-objects.ts";
import type { Named } from "./object-key.ts";

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
