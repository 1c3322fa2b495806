import type { Fault } from "@resource-broker/base";
import type { KubeWorkerDeps, Selection } from "../client/client.ts";
import type { Resource } from "../resource/resource.ts";

export interface ReflectorOptions<T> extends Selection {
  readonly resource: Resource<T>;
  readonly pageSize?: number;
  /** See `WatchQuery`: for resources with many changes. */
  readonly coalesceMs?: number;
  /** Without an event or bookmark for this time, the connection counts as dead. */
  readonly idleMs?: number;
  /** Maximum of the backoff between attempts. */
  readonly maxBackoffMs?: number;
}

export interface ReflectorDeps extends KubeWorkerDeps {
  readonly observer?: ReflectorObserver;
}

export interface ReflectorObserver {
  /** A watch ended before its timeout and is restarted. */
  readonly onRestart?: (resource: string, reason: string) => void;
}

export type ReflectorHealth =
  | { readonly state: "starting" | "synced" }
  /** It keeps retrying; the objects in the sink may be outdated. */
  | { readonly state: "failing"; readonly since: number; readonly fault: Fault };

/** Lists and watches until it is stopped, also across failures of the API server. */
export interface Reflector {
  /** Resolves after the first complete list. Rejects only when stopped before. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly health: () => ReflectorHealth;
}

/**
 * Receives the objects of a reflector. `endList` deletes the objects that were not put since `beginList`. After an aborted
 * list, `beginList` is called again; the objects of before stay until then.
 */
export interface Sink<T> {
  readonly beginList: () => void;
  readonly endList: () => void;
  readonly put: (object: T) => void;
  readonly remove: (object: T) => void;
}
