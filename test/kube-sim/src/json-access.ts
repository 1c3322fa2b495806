import type { JsonObject, JsonValue } from "./json.ts";

/** Reading of JSON whose shape nobody has promised: what is not as expected counts as absent. */

const EMPTY: JsonObject = Object.freeze({});
const NONE: readonly JsonValue[] = Object.freeze([]);

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** What stands there under this very name; `toString` and its kin do not count. */
export function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : EMPTY;
}

export function listAt(object: JsonObject, name: string): readonly JsonValue[] {
  const value = object[name];
  return isList(value) ? value : NONE;
}

export function stringAt(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? value : "";
}

export function stringsAt(object: JsonObject, name: string): readonly string[] {
  return listAt(object, name).filter((value) => typeof value === "string");
}

/** For messages. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

export function metadataOf(object: JsonObject): JsonObject {
  return objectAt(object, "metadata");
}

export function nameOf(object: JsonObject): string {
  return stringAt(metadataOf(object), "name");
}

export function namespaceOf(object: JsonObject): string {
  return stringAt(metadataOf(object), "namespace");
}

export function uidOf(object: JsonObject): string {
  return stringAt(metadataOf(object), "uid");
}

export function finalizersOf(object: JsonObject): readonly string[] {
  return stringsAt(metadataOf(object), "finalizers");
}

export function isTerminating(object: JsonObject): boolean {
  return metadataOf(object)["deletionTimestamp"] !== undefined;
}

export function withMetadata(object: JsonObject, changes: JsonObject): JsonObject {
  return { ...object, metadata: without({ ...metadataOf(object), ...changes }) };
}

/** A copy in which names with the value undefined are gone. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => value !== undefined && !names.includes(name)),
  );
}

export function withFinalizers(object: JsonObject, finalizers: readonly string[]): JsonObject {
  return withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : finalizers });
}

/** The order of names does not matter. */
export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && isSameList(a, b);
  return isObject(a) && isObject(b) && isSameObject(a, b);
}

function isSameList(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  return a.length === b.length && a.every((value, index) => isSame(value, b[index]));
}

function isSameObject(a: JsonObject, b: JsonObject): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}
