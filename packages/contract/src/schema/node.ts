/** The JSON types a value may have on the wire. */
type JsonType = "object" | "array" | "string" | "integer" | "number" | "boolean";

/** Which amounts of a quantity or duration are allowed. */
export type Sign = "positive" | "non-negative" | "any";

/** `immutable`: never changes, appears or vanishes. `set-once`: may be filled in later, then never changes. */
export type Lock = "immutable" | "set-once";

/**
 * A schema as plain JSON Schema 2020-12 data, limited to the keywords the interpreter knows. Keywords that start
 * with `x-` are ours: they carry what JSON Schema cannot say, and each renderer turns them into its own terms.
 */
export interface SchemaNode {
  readonly type: JsonType | readonly JsonType[];
  /** Schemas with a title become named components of the OpenAPI document. */
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode;
  readonly propertyNames?: SchemaNode;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly "x-sign"?: Sign;
  /** A quantity without a fraction. */
  readonly "x-whole"?: boolean;
  readonly "x-lock"?: Lock;
  /** What a text must be, in words: completes the sentence "<value> is not …". */
  readonly "x-expects"?: string;
  /** The fields that identify an item of a list, so that several writers can share the list. */
  readonly "x-list-keys"?: readonly string[];
  /** Older peers write an empty list as null. */
  readonly "x-null-is-empty"?: boolean;
}

declare const valueType: unique symbol;

/** A schema that knows the TypeScript type of the values it accepts. The type exists only for the compiler. */
export interface Schema<T> extends SchemaNode {
  readonly [valueType]?: T;
}

/** The type of a valid value, as `validate` returns it. */
export type Infer<S> = S extends Schema<infer T> ? T : never;
