import { isList, isObject, type JsonObject, type JsonValue } from "../json.ts";
import { type Schema, schemaOfField } from "./schema.ts";

/** Fields that every object has, whatever its schema says. */
const META_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

export interface Pruned {
  readonly object: JsonObject;
  /** Paths of the fields that were dropped, in order. */
  readonly unknown: readonly string[];
}

/** Drops the fields that the schema does not know, and nulls where it allows none and has no default. */
export function pruned(object: JsonObject, schema: Schema): Pruned {
  const unknown: string[] = [];
  const known = mapped(object, (name, value) =>
    META_FIELDS.has(name) ? value : keptField(name, value, { schema, path: "", unknown }),
  );
  return { object: known, unknown: unknown.sort() };
}

interface Place {
  /** undefined: nothing is known of it, so all of it stays. */
  readonly schema: Schema | undefined;
  readonly path: string;
  readonly unknown: string[];
}

/** undefined: the field is dropped. */
function keptField(name: string, value: JsonValue, { schema, path, unknown }: Place): JsonValue | undefined {
  if (schema === undefined) return value;
  const at = path === "" ? name : `${path}.${name}`;
  const field = schemaOfField(schema, name);
  if (field === undefined) {
    if (schema.keepsUnknown) return value;
    unknown.push(at);
    return undefined;
  }
  if (value === null && !field.isNullable && field.default === undefined) return undefined;
  return keptValue(value, { schema: field, path: at, unknown });
}

function keptValue(value: JsonValue, place: Place): JsonValue {
  const { schema, path, unknown } = place;
  if (isObject(value)) return mapped(value, (name, field) => keptField(name, field, place));
  if (!isList(value)) return value;
  return mappedItems(value, (item, index) =>
    keptValue(item, { schema: schema?.items, path: `${path}[${index}]`, unknown }),
  );
}

/** Fills in what the schema has a default for. Objects that need nothing come back as they are. */
export function withDefaults<Value extends JsonValue>(value: Value, schema: Schema): Value;
export function withDefaults(value: JsonValue, schema: Schema): JsonValue {
  if (!schema.has.defaults) return value;
  const { items } = schema;
  if (isList(value)) return items === undefined ? value : mappedItems(value, (item) => filled(item, items));
  if (!isObject(value)) return value;
  const known = mapped(value, (name, field) => {
    const inner = schemaOfField(schema, name);
    return inner === undefined ? field : filled(field, inner);
  });
  const missing = [...schema.properties].flatMap(([name, field]) =>
    known[name] === undefined && field.default !== undefined
      ? [[name, withDefaults(field.default, field)] as const]
      : [],
  );
  return missing.length === 0 ? known : { ...known, ...Object.fromEntries(missing) };
}

function filled(value: JsonValue, schema: Schema): JsonValue {
  return withDefaults(value === null && !schema.isNullable ? (schema.default ?? value) : value, schema);
}

/** The object with other values; undefined drops a field. The same object when nothing changes. */
export function mapped(
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

/** The list with other items. The same list when nothing changes. */
export function mappedItems(
  list: readonly JsonValue[],
  change: (item: JsonValue, index: number) => JsonValue,
): readonly JsonValue[] {
  const items = list.map(change);
  return items.every((item, index) => item === list[index]) ? list : items;
}
