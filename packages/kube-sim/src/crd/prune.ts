import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { type Schema, schemaOfField } from "./schema.ts";

/** Fields that every object has, whatever its schema says. */
const META_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

export interface Pruned {
  readonly object: JsonObject;
  /** Paths of the fields that were dropped, in order. */
  readonly unknown: readonly string[];
}

/** Drops the fields the schema does not know; then nulls where the schema allows none and gives no default. */
export function pruned(object: JsonObject, schema: Schema): Pruned {
  const unknown: string[] = [];
  const { keepsUnknown } = schema;
  const known = prunedFields(object, { schema, keepsUnknown, isResource: true, path: "", unknown });
  return { object: objectWithoutNulls(known, schema), unknown: unknown.sort() };
}

interface Place {
  /** undefined: nothing is known of it. */
  readonly schema: Schema | undefined;
  readonly keepsUnknown: boolean;
  readonly isResource: boolean;
  readonly path: string;
  readonly unknown: string[];
}

function prunedValue(value: JsonValue, place: Place): JsonValue {
  if (isObject(value)) return prunedFields(value, place);
  if (!isList(value)) return value;
  const items = place.schema?.items;
  return sameOr(
    value,
    value.map((item, index) => {
      const { keepsUnknown, path } = place;
      const there = inside(place, items, `${path}[${index}]`);
      return prunedValue(item, keepsUnknown ? { ...there, keepsUnknown } : there);
    }),
  );
}

function prunedFields(object: JsonObject, place: Place): JsonObject {
  let result: Record<string, JsonValue | undefined> | undefined;
  for (const name of Object.keys(object)) {
    const value = object[name];
    const kept = value === undefined ? undefined : keptField(name, value, place);
    if (kept === value && kept !== undefined) continue;
    result ??= { ...object };
    if (kept === undefined) delete result[name];
    else result[name] = kept;
  }
  return result ?? object;
}

/** undefined: it is dropped. */
function keptField(name: string, value: JsonValue, place: Place): JsonValue | undefined {
  const { schema, isResource, unknown } = place;
  if (isResource && META_FIELDS.has(name)) return value;
  const path = place.path === "" ? name : `${place.path}.${name}`;
  const field = schema?.properties.get(name);
  if (field !== undefined) return prunedValue(value, inside(place, field, path));
  const additional = schema?.additional;
  if (additional !== undefined) {
    return prunedValue(value, inside(place, typeof additional === "object" ? additional : undefined, path));
  }
  if (place.keepsUnknown) return value;
  if (place.path !== "" || !META_FIELDS.has(name)) unknown.push(path);
  return undefined;
}

function inside(place: Place, schema: Schema | undefined, path: string): Place {
  return {
    schema,
    keepsUnknown: schema?.keepsUnknown === true,
    isResource: schema?.isEmbedded === true,
    path,
    unknown: place.unknown,
  };
}

function objectWithoutNulls(object: JsonObject, schema: Schema | undefined): JsonObject {
  let result: Record<string, JsonValue | undefined> | undefined;
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const field = schema === undefined ? undefined : schemaOfField(schema, name);
    const isDropped =
      value === null && field !== undefined && !field.isNullable && field.default === undefined;
    const kept = isDropped ? undefined : withoutNulls(value, field);
    if (kept === value) continue;
    result ??= { ...object };
    if (kept === undefined) delete result[name];
    else result[name] = kept;
  }
  return result ?? object;
}

function withoutNulls(value: JsonValue, schema: Schema | undefined): JsonValue {
  if (isObject(value)) return objectWithoutNulls(value, schema);
  if (!isList(value)) return value;
  return sameOr(
    value,
    value.map((item) => withoutNulls(item, schema?.items)),
  );
}

/** The old list when nothing changed, so that unchanged parts stay the same objects. */
function sameOr(before: readonly JsonValue[], after: readonly JsonValue[]): readonly JsonValue[] {
  return after.every((item, index) => item === before[index]) ? before : after;
}
