import type { JsonObject, JsonValue } from "../json.ts";

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

/** A kind of object the simulated API server serves: built in, or made from a CustomResourceDefinition. */
export interface ResourceDefinition {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  /** True: status is written through its own path only, and other writes leave it alone. */
  readonly hasStatus: boolean;
  /** True: metadata.generation grows with every change outside metadata and status. */
  readonly hasGeneration: boolean;
  /** What `kubectl get` shows after the name; the name column comes first by itself. */
  readonly columns: readonly TableColumn[];
  /** Judges, prunes and completes an object before it is stored. Pure. */
  readonly admit: (write: Write) => Admission;
  /** The fields a field selector may name beside metadata.name and metadata.namespace. */
  readonly selectableFields: Readonly<Record<string, (object: JsonObject) => string>>;
  /** How strategic merge patches treat lists: the merge key by path (`spec.containers` → `name`). Absent: refused. */
  readonly mergeKeys?: Readonly<Record<string, string>>;
  /** True: an update without metadata.resourceVersion replaces whatever is there. Absent: for kinds with mergeKeys. */
  readonly allowsBlindUpdate?: boolean;
  /** How long a deleted object waits for its node to let go of it; `asked` by the client. Absent: not at all. */
  readonly graceSeconds?: (object: JsonObject, asked: number | undefined) => number;
  /** OpenAPI v3 of the object. Absent: `kubectl explain` knows nothing of it. */
  readonly schema?: JsonObject;
}

export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: JsonObject, nowMs: number) => JsonValue;
}

export interface Write {
  readonly object: JsonObject;
  /** Absent: it is created. */
  readonly old?: JsonObject;
  readonly isStatus: boolean;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
}

export type Admission =
  | { readonly ok: true; readonly object: JsonObject; readonly warnings: readonly string[] }
  /** Invalid (422), with one cause for each field; or, for unknown fields under Strict, BadRequest (400). */
  | { readonly ok: false; readonly code: 400 | 422; readonly causes: readonly Cause[] };

export interface Cause {
  readonly reason:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueDuplicate"
    | "FieldValueNotSupported"
    | "FieldValueTypeInvalid"
    | "FieldValueForbidden"
    | "FieldValueTooLong"
    | "FieldValueTooMany";
  readonly field: string;
  readonly message: string;
}
