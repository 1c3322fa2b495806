import type { Clock, Log } from "@resource-broker/base";
import type { ObjectName, Resource, Subresource } from "../resource/resource.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  /** The API server validates and stores nothing. */
  readonly dryRun?: boolean;
  readonly subresource?: Subresource;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes over fields that somebody else manages. */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Precondition: the object still has this UID. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Grace period of a pod; 0: it is deleted at once, without waiting for its processes. */
  readonly gracePeriodSeconds?: number;
}

export type Patch =
  | { readonly kind: "merge"; readonly body: object }
  | { readonly kind: "json"; readonly body: readonly JsonPatchStep[] };

export interface JsonPatchStep {
  readonly op: "add" | "remove" | "replace" | "test";
  readonly path: string;
  readonly value?: unknown;
}

/** What works with an API server all the time needs. */
export interface KubeWorkerDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** Which objects; absent namespace: all namespaces. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListQuery extends Selection, CallOptions {
  /** Objects per page; also the maximum in memory at once. */
  readonly pageSize?: number;
  readonly resourceVersion?: string;
}

export interface ListEnd {
  /** Version from which a watch can continue. */
  readonly resourceVersion: string;
  readonly count: number;
}

export interface WatchQuery extends Selection, CallOptions {
  readonly resourceVersion: string;
  /** The server ends the watch after so long. */
  readonly timeoutSeconds?: number;
  /**
   * After an event, reading pauses for this time, so that later events are read in one batch. Waking up costs more than
   * reading an event; this halves the CPU of a busy watch.
   */
  readonly coalesceMs?: number;
  /** Called once when the server has accepted the watch; events may come much later. */
  readonly onOpen?: () => void;
}

export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T; readonly resourceVersion: string }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/**
 * One cluster's API server. Every refusal is a `Fault`: not-found, already-exists, conflict, gone, forbidden (which
 * names the missing verb and resource), invalid …; a server that cannot be reached is `unreachable`.
 */
export interface KubeClient {
  readonly server: string;
  readonly get: <T>(resource: Resource<T>, name: ObjectName, options?: CallOptions) => Promise<T>;
  /** Undefined where there is none. */
  readonly find: <T>(
    resource: Resource<T>,
    name: ObjectName,
    options?: CallOptions,
  ) => Promise<T | undefined>;
  /** Hands over each object as it is read, page by page; at no time is there more than one page in memory. */
  readonly list: <T>(resource: Resource<T>, query: ListQuery, each: (object: T) => void) => Promise<ListEnd>;
  /** One watch of the server: ends with it, with its time, or with `signal`; throws `gone` when its version is too old. */
  readonly watch: <T>(resource: Resource<T>, query: WatchQuery) => AsyncIterable<WatchEvent<T>>;
  readonly create: <T>(resource: Resource<T>, object: T, options?: WriteOptions) => Promise<T>;
  /** Replaces the whole object; `conflict` when its resourceVersion is not the newest. */
  readonly update: <T>(resource: Resource<T>, object: T, options?: WriteOptions) => Promise<T>;
  readonly patch: <T>(
    resource: Resource<T>,
    change: { readonly name: ObjectName; readonly patch: Patch },
    options?: WriteOptions,
  ) => Promise<T>;
  /** Server-side apply. */
  readonly apply: <T>(resource: Resource<T>, object: Partial<T>, options: ApplyOptions) => Promise<T>;
  readonly delete: (resource: Resource<unknown>, name: ObjectName, options?: DeleteOptions) => Promise<void>;
  /** Reads any JSON path of the server, such as `/version` or an aggregated API. */
  readonly read: (path: string, options?: CallOptions) => Promise<unknown>;
  readonly close: () => void;
}
