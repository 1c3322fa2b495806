import type { JsonObject, JsonValue } from "../json.ts";

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
  /** True: an update of what is not there creates it. */
  readonly allowsCreateOnUpdate?: boolean;
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
