import type { Lock, Schema, SchemaNode } from "./node.ts";

/** A field of an object. The description is not optional: users read it in kubectl explain and the API reference. */
export interface Field<T, IsOptional extends boolean> {
  readonly schema: Schema<T>;
  readonly isOptional: IsOptional;
  readonly description: string;
  /** Shown in documents and in the message when the value is missing or wrong. */
  readonly examples: readonly unknown[];
  readonly lock?: Lock;
}

export type Fields = Readonly<Record<string, Field<unknown, boolean>>>;

type RequiredNames<F extends Fields> = {
  [K in keyof F]: F[K]["isOptional"] extends true ? never : K;
}[keyof F];
type OptionalNames<F extends Fields> = Exclude<keyof F, RequiredNames<F>>;
type ValueOf<F> = F extends Field<infer T, boolean> ? T : never;
type Flat<T> = { [K in keyof T]: T[K] };

/** The value of an object with these fields. */
export type ObjectOf<F extends Fields> = Flat<
  { readonly [K in RequiredNames<F>]: ValueOf<F[K]> } & { readonly [K in OptionalNames<F>]?: ValueOf<F[K]> }
>;

export function required<T>(
  schema: Schema<T>,
  description: string,
  ...examples: readonly unknown[]
): Field<T, false> {
  return { schema, isOptional: false, description, examples };
}

/** May be absent; null counts as absent, because Go peers write it. */
export function optional<T>(
  schema: Schema<T>,
  description: string,
  ...examples: readonly unknown[]
): Field<T, true> {
  return { schema, isOptional: true, description, examples };
}

export function immutable<F extends Field<unknown, boolean>>(field: F): F {
  return { ...field, lock: "immutable" };
}

export function setOnce<F extends Field<unknown, boolean>>(field: F): F {
  return { ...field, lock: "set-once" };
}

export function object<F extends Fields>(
  fields: F,
  limits: { readonly minProperties?: number } = {},
): Schema<ObjectOf<F>> {
  const entries = Object.entries(fields);
  const names = entries.filter(([, field]) => !field.isOptional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldNode(field)])),
    ...(names.length > 0 ? { required: names } : {}),
    ...limits,
  };
}

/** An object that documents refer to by its title. */
export function message<F extends Fields>(
  title: string,
  description: string,
  fields: F,
): Schema<ObjectOf<F>> {
  return titled(title, object(fields), description);
}

/** Gives a schema the name under which documents refer to it. */
export function titled<T>(title: string, schema: Schema<T>, description: string): Schema<T> {
  return { ...schema, title, description };
}

interface ArrayLimits {
  readonly minItems?: number;
  /** The fields that identify an item, for lists that several writers share. */
  readonly listKeys?: readonly string[];
  readonly nullIsEmpty?: boolean;
}

export function array<T>(items: Schema<T>, maxItems: number, limits: ArrayLimits = {}): Schema<readonly T[]> {
  const { listKeys, nullIsEmpty, ...least } = limits;
  return {
    type: "array",
    items,
    ...least,
    maxItems,
    ...(listKeys === undefined ? {} : { "x-list-keys": listKeys }),
    ...(nullIsEmpty === undefined ? {} : { "x-null-is-empty": nullIsEmpty }),
  };
}

/** An object with names chosen by its writer. Every record bounds its size and says what a name may be. */
export function record<T>(
  names: Schema<string>,
  values: Schema<T>,
  maxProperties: number,
): Schema<Readonly<Record<string, T>>> {
  return { type: "object", propertyNames: names, additionalProperties: values, maxProperties };
}

/** The form of a `line`, which distinguishes it from all other texts. */
export const ONE_LINE = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

/**
 * A text on one line. Control characters are refused, so that it is safe in a terminal, a log and an event stream;
 * `validate` replaces invisible and bidirectional characters.
 */
export function line(maxLength: number): Schema<string> {
  return { type: "string", maxLength, pattern: ONE_LINE, "x-expects": "one line of plain text" };
}

export function nonEmptyLine(maxLength: number): Schema<string> {
  const { type, ...rest } = line(maxLength);
  return { type, minLength: 1, ...rest };
}

/** Any text, also over several lines; for words the broker itself writes. */
export function prose(maxLength: number): Schema<string> {
  return { type: "string", maxLength };
}

/** A text of a certain form, which `expects` names: "a DNS label: lower-case letters, …". */
export function matching(pattern: string, expects: string, limits: TextLimits): Schema<string> {
  return { type: "string", pattern, ...limits, "x-expects": expects };
}

interface TextLimits extends Pick<SchemaNode, "examples" | "format" | "minLength"> {
  readonly maxLength: number;
}

export function oneOf<const V extends readonly string[]>(...values: V): Schema<V[number]> {
  return { type: "string", enum: values };
}

export function integer(minimum: number, maximum: number): Schema<number> {
  return { type: "integer", minimum, maximum };
}

/** How many; any number that is exact. */
export function count(): Schema<number> {
  return integer(0, Number.MAX_SAFE_INTEGER);
}

export function number(minimum: number, maximum: number): Schema<number> {
  return { type: "number", minimum, maximum };
}

export function positiveNumber(maximum: number): Schema<number> {
  return { type: "number", exclusiveMinimum: 0, maximum };
}

export function boolean(): Schema<boolean> {
  return { type: "boolean" };
}

function fieldNode({ schema, description, examples, lock }: Field<unknown, boolean>): SchemaNode {
  return {
    ...schema,
    description,
    ...(examples.length === 0 ? {} : { examples }),
    ...(lock === undefined ? {} : { "x-lock": lock }),
  };
}
