import type { Fault } from "@resource-broker/contract";
import type { Log, MachineTime } from "@resource-broker/runtime";
import type { KubeClient, Selection } from "../client/client.ts";
import type { Resource } from "../resource/resource.ts";

export interface FollowOptions<T> extends Selection {
  readonly resource: Resource<T>;
  readonly pageSize?: number;
  /** See `WatchQuery`: for kinds of which many objects change all the time. */
  readonly gatherMs?: number;
  /** Without any sign of life (event or bookmark) for so long, the connection counts as dead. */
  readonly idleMs?: number;
  /** The longest pause between two tries; each pause is a random part of a bound that doubles up to this. */
  readonly maxBackoffMs?: number;
}

export interface FollowDeps {
  readonly client: KubeClient;
  readonly machine: MachineTime;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly observer?: FollowObserver;
}

export interface FollowObserver {
  /** A watch ended otherwise than by its time and is begun again. */
  readonly onRestart?: (resource: string, reason: string) => void;
  readonly onSynced?: (resource: string, count: number) => void;
}

export type FollowerHealth =
  | { readonly state: "starting" | "following" }
  /** It keeps trying; what is known may be old. */
  | { readonly state: "troubled"; readonly since: number; readonly fault: Fault };

/** Lists and watches for as long as it runs, whatever happens to the API server. */
export interface Follower {
  /** Resolves after the first whole list. Rejects only when stopped before. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly health: () => FollowerHealth;
}
