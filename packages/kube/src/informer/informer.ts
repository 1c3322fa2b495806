import { follow } from "../follow/follow.ts";
import type { FollowDeps, Follower, FollowOptions } from "../follow/follower.ts";
import { type Keeping, type KeptObjects, keptObjects } from "./kept-objects.ts";
import type { Named } from "./object-key.ts";

export type InformerOptions<T extends Named, K> = FollowOptions<T> & Keeping<T, K>;

/** A reflector with a cache of transformed objects and change listeners. */
export type Informer<K> = Follower & KeptObjects<K>;

export function informer<T extends Named, K>(options: InformerOptions<T, K>, deps: FollowDeps): Informer<K> {
  const { kept, sink } = keptObjects(options, deps.log);
  return { ...follow(options, sink, deps), ...kept };
}
