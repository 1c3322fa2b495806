import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Schema } from "./schema.ts";

/** Fills in what the schema has a default for. Objects that need nothing come back as they are. */
export function withDefaults(object: JsonObject, schema: Schema): JsonObject {
  let result: Record<string, JsonValue | undefined> | undefined;
  const put = (name: string, value: JsonValue): void => {
    result ??= { ...object };
    result[name] = value;
  };
  for (const [name, field] of schema.properties) {
    const before = object[name];
    const value = needsDefault(before, field) ? field.default : before;
    const after = value === undefined ? undefined : valueWithDefaults(value, field);
    if (after !== undefined && after !== before) put(name, after);
  }
  if (typeof schema.additional === "object") {
    for (const name of Object.keys(object)) {
      const before = object[name];
      if (before === undefined || schema.properties.has(name)) continue;
      const after = itemWithDefaults(before, schema.additional);
      if (after !== before) put(name, after);
    }
  }
  return result ?? object;
}

function valueWithDefaults(value: JsonValue, schema: Schema): JsonValue {
  if (isObject(value)) return withDefaults(value, schema);
  const { items } = schema;
  if (!isList(value) || items === undefined) return value;
  const filled = value.map((item) => itemWithDefaults(item, items));
  return filled.every((item, index) => item === value[index]) ? value : filled;
}

function itemWithDefaults(value: JsonValue, schema: Schema): JsonValue {
  const filled = value === null && !schema.isNullable ? (schema.default ?? value) : value;
  return valueWithDefaults(filled, schema);
}

function needsDefault(value: JsonValue | undefined, schema: Schema): boolean {
  if (schema.default === undefined) return false;
  return value === undefined || (value === null && !schema.isNullable);
}
