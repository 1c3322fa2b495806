import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Schema } from "./schema.ts";

/** Whether a schema has anything to fill in: most objects need no walk. */
export function hasDefaults(schema: Schema): boolean {
  if (schema.default !== undefined) return true;
  const inner = [...schema.properties.values(), schema.items, schema.additional];
  return inner.some((part) => typeof part === "object" && hasDefaults(part));
}

/** Fills in what the schema has a default for. Objects that need nothing come back as they are. */
export function withDefaults(object: JsonObject, schema: Schema): JsonObject {
  const changes = [...fieldChanges(object, schema), ...entryChanges(object, schema)];
  return changes.length === 0 ? object : { ...object, ...Object.fromEntries(changes) };
}

type Change = readonly [name: string, value: JsonValue];

function fieldChanges(object: JsonObject, schema: Schema): Change[] {
  const changes: Change[] = [];
  for (const [name, field] of schema.properties) {
    const before = object[name];
    const value = needsDefault(before, field) ? field.default : before;
    const after = value === undefined ? undefined : valueWithDefaults(value, field);
    if (after !== undefined && after !== before) changes.push([name, after]);
  }
  return changes;
}

function entryChanges(object: JsonObject, { properties, additional }: Schema): Change[] {
  const changes: Change[] = [];
  if (typeof additional !== "object") return changes;
  for (const name of Object.keys(object)) {
    const before = object[name];
    if (before === undefined || properties.has(name)) continue;
    const after = itemWithDefaults(before, additional);
    if (after !== before) changes.push([name, after]);
  }
  return changes;
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
