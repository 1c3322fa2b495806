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
  return mapped(object, (name, value) => keptField(name, value, place));
}

/** The object with other values; undefined drops a field. The same object when nothing changes. */
function mapped(
  object: JsonObject,
  change: (name: string, value: JsonValue) => JsonValue | undefined,
): JsonObject {
  let result: Record<string, JsonValue | undefined> | undefined;
  for (const name of Object.keys(object)) {
    const value = object[name];
    const kept = value === undefined ? undefined : change(name, value);
    if (kept === value) continue;
    result ??= { ...object };
    if (kept === undefined) delete result[name];
    else result[name] = kept;
  }
  return result ?? object;
}

/** undefined: it is dropped. */
function keptField(name: string, value: JsonValue, place: Place): JsonValue | undefined {
  if (place.isResource && META_FIELDS.has(name)) return value;
  const path = place.path === "" ? name : `${place.path}.${name}`;
  const known = knownField(name, place.schema);
  if (known !== undefined) return prunedValue(value, inside(place, known.schema, path));
  if (place.keepsUnknown) return value;
  if (place.path !== "" || !META_FIELDS.has(name)) place.unknown.push(path);
  return undefined;
}

/** A field that may be there, with what is known of its value, if anything. */
function knownField(name: string, schema: Schema | undefined): { schema: Schema | undefined } | undefined {
  const field = schema?.properties.get(name);
  if (field !== undefined) return { schema: field };
  const additional = schema?.additional;
  if (additional === undefined) return undefined;
  return { schema: typeof additional === "object" ? additional : undefined };
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
  return mapped(object, (name, value) => {
    const field = schema === undefined ? undefined : schemaOfField(schema, name);
    return value === null && isNeverNull(field) ? undefined : withoutNulls(value, field);
  });
}

function isNeverNull(schema: Schema | undefined): boolean {
  return schema !== undefined && !schema.isNullable && schema.default === undefined;
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
