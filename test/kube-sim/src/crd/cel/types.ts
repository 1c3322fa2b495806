/** What CEL knows of a value before it sees it. */
export type Type =
  | { readonly kind: SimpleKind }
  | ListType
  | MapType
  | ObjectType
  | { readonly kind: "optional"; readonly item: Type }
  /** Stands for the same type wherever its name appears in one signature. */
  | { readonly kind: "param"; readonly name: string };

export type SimpleKind =
  | "dyn"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null"
  | "type"
  | "duration"
  | "timestamp"
  | "quantity"
  | "url";

export interface ListType {
  readonly kind: "list";
  readonly item: Type;
}

export interface MapType {
  readonly kind: "map";
  readonly key: Type;
  readonly value: Type;
}

/** An object with known fields. Two are the same type when they come from the same place of the schema. */
export interface ObjectType {
  readonly kind: "object";
  /** By the name that CEL uses, which is escaped. */
  readonly fields: ReadonlyMap<string, ObjectField>;
}

export interface ObjectField {
  /** As it is in the JSON. */
  readonly name: string;
  readonly type: Type;
}

export const DYN: Type = { kind: "dyn" };
export const BOOL: Type = { kind: "bool" };
export const INT: Type = { kind: "int" };
export const UINT: Type = { kind: "uint" };
export const DOUBLE: Type = { kind: "double" };
export const STRING: Type = { kind: "string" };
export const BYTES: Type = { kind: "bytes" };
export const NULL: Type = { kind: "null" };
export const TYPE: Type = { kind: "type" };
export const DURATION: Type = { kind: "duration" };
export const TIMESTAMP: Type = { kind: "timestamp" };
export const QUANTITY: Type = { kind: "quantity" };
export const URL_TYPE: Type = { kind: "url" };
export const A: Type = { kind: "param", name: "A" };
export const B: Type = { kind: "param", name: "B" };

export function listOf(item: Type): Type {
  return { kind: "list", item };
}

export function mapOf(key: Type, value: Type): Type {
  return { kind: "map", key, value };
}

export function optionalOf(item: Type): Type {
  return { kind: "optional", item };
}

/** What the placeholders of a signature stand for in one call. */
export type Bindings = Map<string, Type>;

const TAKES_NULL: ReadonlySet<string> = new Set(["object", "duration", "timestamp", "quantity", "url"]);

/** Whether a value of type `given` may stand where `wanted` is asked for; binds the placeholders of `wanted`. */
export function accepts(wanted: Type, given: Type, bindings: Bindings): boolean {
  if (wanted.kind === "param") return acceptsParam(wanted.name, given, bindings);
  if (given.kind === "dyn" || (given.kind === "null" && TAKES_NULL.has(wanted.kind))) return true;
  switch (wanted.kind) {
    case "list":
      return given.kind === "list" && accepts(wanted.item, given.item, bindings);
    case "map":
      return given.kind === "map" && acceptsMap(wanted, given, bindings);
    case "optional":
      return given.kind === "optional" && accepts(wanted.item, given.item, bindings);
    case "object":
      return wanted === given;
    case "dyn":
      return true;
    default:
      return wanted.kind === given.kind;
  }
}

/** The type with its placeholders filled in; those nothing is known of may be anything. */
export function bound(type: Type, bindings: Bindings): Type {
  switch (type.kind) {
    case "param":
      return bindings.get(type.name) ?? DYN;
    case "list":
      return listOf(bound(type.item, bindings));
    case "map":
      return mapOf(bound(type.key, bindings), bound(type.value, bindings));
    case "optional":
      return optionalOf(bound(type.item, bindings));
    default:
      return type;
  }
}

/** The type both have, or undefined. What is empty (`[]`) or unknown takes the other's. */
export function joined(a: Type, b: Type): Type | undefined {
  if (a.kind === "dyn") return a;
  if (b.kind === "dyn") return b;
  if (isUnbound(a)) return accepts(emptied(a), b, new Map()) ? b : undefined;
  if (accepts(a, isUnbound(b) ? emptied(b) : b, new Map())) return a;
  return accepts(b, a, new Map()) ? b : undefined;
}

/** As messages show it: `list(string)`. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${typeText(type.item)})`;
    case "map":
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case "optional":
      return `optional_type(${typeText(type.item)})`;
    case "param":
      return "dyn";
    case "duration":
    case "timestamp":
      return `google.protobuf.${type.kind === "duration" ? "Duration" : "Timestamp"}`;
    case "quantity":
      return "kubernetes.Quantity";
    case "url":
      return "kubernetes.URL";
    default:
      return type.kind;
  }
}

function acceptsMap(wanted: MapType, given: MapType, bindings: Bindings): boolean {
  return accepts(wanted.key, given.key, bindings) && accepts(wanted.value, given.value, bindings);
}

function acceptsParam(name: string, given: Type, bindings: Bindings): boolean {
  const before = bindings.get(name);
  const both = before === undefined ? given : joined(before, given);
  if (both === undefined) return false;
  bindings.set(name, both);
  return true;
}

function isUnbound(type: Type): boolean {
  return (
    type.kind === "param" ||
    (type.kind === "list" && isUnbound(type.item)) ||
    (type.kind === "map" && (isUnbound(type.key) || isUnbound(type.value)))
  );
}

function emptied(type: Type): Type {
  return bound(type, new Map());
}
