export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** Objects in the store are never changed in place: a write makes a new one. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}

/** What JSON parsers make is JSON; YAML may also make dates, big numbers and sets. */
export function isJson(value: unknown): value is JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  return Array.isArray(value) ? value.every(isJson) : isJsonObject(value);
}

export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}

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

/** What a path such as `spec.nodeName` leads to. */
export function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let found = value;
  for (const name of path.split(".")) {
    if (!isObject(found)) return undefined;
    found = found[name];
  }
  return found;
}

export function textAt(value: JsonValue | undefined, path: string): string {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: JsonValue | undefined, path: string): number {
  const found = valueAt(value, path);
  return typeof found === "number" ? found : 0;
}

export function objectAt(value: JsonValue | undefined, path: string): JsonObject {
  const found = valueAt(value, path);
  return isObject(found) ? found : EMPTY;
}

/** The members of a list that are objects. */
export function objectsAt(value: JsonValue | undefined, path: string): readonly JsonObject[] {
  const found = valueAt(value, path);
  return isList(found) ? found.filter(isObject) : [];
}

/** The members of a list as texts. */
export function textsAt(value: JsonValue | undefined, path: string): readonly string[] {
  const found = valueAt(value, path);
  return isList(found) ? found.map(scalarText) : [];
}

/** A text, number or boolean as text; empty for anything else. */
export function scalarText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** A condition of `status.conditions`. */
export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(object, "status.conditions").find((condition) => condition["type"] === type);
}

export function listAt(object: JsonObject, name: string): readonly JsonValue[] {
  const value = object[name];
  return isList(value) ? value : NONE;
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
  return textAt(metadataOf(object), "name");
}

export function namespaceOf(object: JsonObject): string {
  return textAt(metadataOf(object), "namespace");
}

export function uidOf(object: JsonObject): string {
  return textAt(metadataOf(object), "uid");
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
