import type { Cause } from "../api/definition.ts";
import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { duplicate, invalid } from "./causes.ts";
import { jsonText } from "./go-text.ts";
import { type Schema, schemaOfField } from "./schema.ts";

/** Whether a schema has a list of type set or map anywhere: most have few, and the others need no walk. */
export function hasKeyedLists(schema: Schema): boolean {
  if (schema.listType === "set" || schema.listType === "map") return true;
  const inner = [...schema.properties.values(), schema.items, schema.additional];
  return inner.some((part) => typeof part === "object" && hasKeyedLists(part));
}

/** Lists of type set hold every item once; those of type map every key. */
export function listTypeCauses(schema: Schema, value: JsonValue, path: string): Cause[] {
  if (isList(value)) return [...ownCauses(schema, value, path), ...itemCauses(schema, value, path)];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const inner = schemaOfField(schema, name);
    if (inner === undefined || field === undefined) return [];
    return listTypeCauses(inner, field, fieldPath(schema, path, name));
  });
}

/** `spec.labels[app]` for the key of a map, `spec.name` for a field. */
export function fieldPath(schema: Schema, path: string, name: string): string {
  if (!schema.properties.has(name)) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}

function itemCauses({ items }: Schema, value: readonly JsonValue[], path: string): Cause[] {
  if (items === undefined) return [];
  return value.flatMap((item, index) => listTypeCauses(items, item, `${path}[${index}]`));
}

function ownCauses(schema: Schema, value: readonly JsonValue[], path: string): Cause[] {
  if (schema.listType === "set") return duplicates(value, path);
  if (schema.listType !== "map") return [];
  const wrong = value.findIndex((item) => item !== null && !isObject(item));
  if (wrong !== -1) {
    return [invalid(`${path}[${wrong}]`, value[wrong], "must be an object for an array of list-type map")];
  }
  return duplicates(
    value.map((item) => keysOf(isObject(item) ? item : {}, schema.listMapKeys)),
    path,
  );
}

function keysOf(item: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (item[key] === undefined ? [] : [[key, item[key]]])));
}

/** The second of each kind; the third and later are not told again. */
function duplicates(values: readonly JsonValue[], path: string): Cause[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, index) => {
    const text = jsonText(value);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return times === 1 ? [duplicate(`${path}[${index}]`, value)] : [];
  });
}
