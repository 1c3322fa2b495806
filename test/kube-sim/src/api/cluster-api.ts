import type { JsonObject, JsonValue } from "../json.ts";
import type { ResourceDefinition } from "./definition.ts";

/** What the verbs of one cluster do, without HTTP: JSON in, JSON out; refusals are thrown as `StatusError`. */
export interface ClusterApi {
  /** Every kind served now, in a fixed order; grows and shrinks with CustomResourceDefinitions. */
  readonly definitions: () => readonly ResourceDefinition[];
  readonly get: (target: Target) => JsonObject;
  readonly list: (target: CollectionTarget, query: ListQuery) => ListResult;
  readonly create: (target: CollectionTarget, object: JsonObject, options: WriteOptions) => Written;
  readonly update: (target: Target, object: JsonObject, options: WriteOptions) => Written;
  readonly patch: (target: Target, patch: PatchBody, options: PatchOptions) => Written;
  readonly delete: (target: Target, options: DeleteOptions) => JsonObject;
  readonly deleteCollection: (
    target: CollectionTarget,
    query: ListQuery,
    options: DeleteOptions,
  ) => JsonObject;
  /**
   * Calls `each` for every change after `resourceVersion`. What exists or has already happened is told before this
   * returns, so that a bookmark may follow at once. Throws Gone (410).
   */
  readonly watch: (target: CollectionTarget, query: WatchQuery, each: (change: WatchChange) => void) => Watch;
  /** Forgets the changes so far: a watch from an older version, or an older continue token, is Gone. */
  readonly compact: () => void;
  /** The newest version of the whole store, for bookmarks. */
  readonly resourceVersion: () => string;
}

export interface CollectionTarget {
  readonly definition: ResourceDefinition;
  /** Absent: all namespaces, or a kind without. */
  readonly namespace?: string;
}

export interface Target extends CollectionTarget {
  readonly name: string;
  readonly subresource?: "status";
}

export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListQuery extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
}

export interface ListResult {
  readonly items: readonly JsonObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
}

export interface PatchOptions extends WriteOptions {
  /** Server-side apply only. */
  readonly force: boolean;
}

export type PatchBody =
  | { readonly kind: "merge" | "strategic" | "apply"; readonly body: JsonObject }
  | { readonly kind: "json"; readonly body: readonly JsonValue[] };

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly propagation: "Background" | "Foreground" | "Orphan";
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** 0: at once. Absent: what the kind's `graceSeconds` says. */
  readonly gracePeriodSeconds?: number;
}

export interface Written {
  readonly object: JsonObject;
  readonly isNew: boolean;
  readonly warnings: readonly string[];
}

export interface WatchQuery extends Selection {
  readonly resourceVersion: string;
  /** True: the objects that exist come first, as ADDED, then a bookmark that says so. */
  readonly sendInitialEvents?: boolean;
}

export interface WatchChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: JsonObject;
}

export interface Watch {
  readonly stop: () => void;
}
