import type { Quantity } from "@resource-broker/base";
import { isList, isObject } from "../../core/look.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { sameJson } from "../same-json.ts";
import type { ObjectType } from "./types.ts";

/** A CEL value: ints are bigints, doubles are numbers. */
export type Value = null | boolean | bigint | number | string | Tagged;

export type Tagged =
  | ListValue
  | MapValue
  | ObjectValue
  | { readonly kind: "uint"; readonly value: bigint }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "duration"; readonly nanos: bigint }
  /** Nanoseconds since 1970. */
  | { readonly kind: "timestamp"; readonly nanos: bigint }
  | { readonly kind: "quantity"; readonly quantity: Quantity }
  | { readonly kind: "url"; readonly url: UrlParts }
  | { readonly kind: "optional"; readonly value: Value | undefined }
  | { readonly kind: "type"; readonly name: string }
  /** A field of which the schema says nothing: it can be compared, and nothing else. */
  | { readonly kind: "opaque"; readonly json: JsonValue }
  | Failure;

export interface ListValue {
  readonly kind: "list";
  readonly items: readonly Value[];
  /** Lists of type set and map are equal in any order. */
  readonly listType: "atomic" | "set" | "map";
  readonly keys: readonly string[];
}

export type MapKey = string | bigint | boolean;

export interface MapValue {
  readonly kind: "map";
  readonly entries: ReadonlyMap<MapKey, Value>;
}

/** An object of the schema. Its fields are read when they are asked for. */
export interface ObjectValue {
  readonly kind: "object";
  readonly raw: JsonObject;
  readonly type: ObjectType;
  readonly read: (name: string, json: JsonValue) => Value;
}

export interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
}

/** An error of the expression. It is a value, because `true || error` is true. */
export interface Failure {
  readonly kind: "failure";
  readonly problem: string;
}

export function failure(problem: string): Failure {
  return { kind: "failure", problem };
}

export const NO_SUCH_OVERLOAD: Failure = failure("no such overload");

export function isFailure(value: Value): value is Failure {
  return typeof value === "object" && value !== null && value.kind === "failure";
}

export function isTagged<Kind extends Tagged["kind"]>(
  value: Value,
  kind: Kind,
): value is Extract<Tagged, { kind: Kind }> {
  return typeof value === "object" && value !== null && value.kind === kind;
}

export function listValue(items: readonly Value[]): ListValue {
  return { kind: "list", items, listType: "atomic", keys: [] };
}

/** undefined: no value of this kind can be a key. */
export function mapKey(value: Value): MapKey | undefined {
  if (typeof value === "string" || typeof value === "bigint" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  return isTagged(value, "uint") ? value.value : undefined;
}

/** The field of an object by its JSON name; undefined when it is absent. */
export function fieldOf(object: ObjectValue, name: string): Value | undefined {
  const json = Object.hasOwn(object.raw, name) ? object.raw[name] : undefined;
  return json === undefined ? undefined : object.read(name, json);
}

export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true;
  const left = numeric(a);
  const right = numeric(b);
  // Whole numbers and fractions compare exactly: 2n == 2.
  // oxlint-disable-next-line eqeqeq -- bigint and number are equal only by ==
  if (left !== undefined) return right !== undefined && left == right;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  return a.kind === b.kind && sameTagged(a, b);
}

/** A number of any kind; undefined for anything else. */
export function numeric(value: Value): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return isTagged(value, "uint") ? value.value : undefined;
}

function sameTagged(a: Tagged, b: Tagged): boolean {
  switch (a.kind) {
    case "list":
      return isTagged(b, a.kind) && sameLists(a, b);
    case "map":
      return isTagged(b, a.kind) && sameMaps(a, b);
    case "object":
      return isTagged(b, a.kind) && sameObjects(a, b);
    case "optional":
      return isTagged(b, a.kind) && sameOptionals(a.value, b.value);
    default:
      return sameSimple(a, b);
  }
}

type Simple = Exclude<Tagged, { kind: "list" | "map" | "object" | "optional" }>;

function sameSimple(a: Simple, b: Tagged): boolean {
  switch (a.kind) {
    case "bytes":
      return isTagged(b, a.kind) && Buffer.compare(a.bytes, b.bytes) === 0;
    case "quantity":
      return isTagged(b, a.kind) && sameQuantities(a.quantity, b.quantity);
    case "url":
      return isTagged(b, a.kind) && sameJson(urlJson(a.url), urlJson(b.url));
    case "opaque":
      return isTagged(b, a.kind) && sameJson(a.json, b.json);
    case "type":
      return isTagged(b, a.kind) && a.name === b.name;
    case "duration":
    case "timestamp":
      return isTagged(b, a.kind) && a.nanos === b.nanos;
    default:
      return false;
  }
}

function sameOptionals(a: Value | undefined, b: Value | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameValue(a, b);
}

function sameQuantities(a: Quantity, b: Quantity): boolean {
  return a.digits === b.digits && a.scale === b.scale;
}

function urlJson(url: UrlParts): JsonValue {
  const { scheme, host, escapedPath } = url;
  return [scheme, host, escapedPath, [...url.query.entries()].map(([name, values]) => [name, ...values])];
}

function sameLists(a: ListValue, b: ListValue): boolean {
  if (a.items.length !== b.items.length) return false;
  if (a.listType === "atomic") return a.items.every((item, index) => sameValue(item, b.items[index] ?? null));
  const isSame =
    a.listType === "set"
      ? sameValue
      : (left: Value, right: Value): boolean => sameKeys(left, right, a.keys) && sameValue(left, right);
  return a.items.every((item) => b.items.some((other) => isSame(item, other)));
}

/** Whether two items of a list of type map have the same keys. */
export function sameKeys(a: Value, b: Value, keys: readonly string[]): boolean {
  if (!isTagged(a, "object") || !isTagged(b, "object")) return false;
  return keys.every((key) => sameJson(a.raw[key], b.raw[key]));
}

function sameMaps(a: MapValue, b: MapValue): boolean {
  if (a.entries.size !== b.entries.size) return false;
  for (const [key, value] of a.entries) {
    const other = b.entries.get(key);
    if (other === undefined || !sameValue(value, other)) return false;
  }
  return true;
}

function sameObjects(a: ObjectValue, b: ObjectValue): boolean {
  if (a.raw === b.raw) return true;
  const names = Object.keys(a.raw);
  if (names.length !== Object.keys(b.raw).length) return false;
  return names.every((name) => {
    const left = fieldOf(a, name);
    const right = fieldOf(b, name);
    return left !== undefined && right !== undefined && sameValue(left, right);
  });
}

/** A value of which nothing is known, as it is. */
export function opaque(json: JsonValue): Value {
  return isObject(json) || isList(json) ? { kind: "opaque", json } : (json ?? null);
}
