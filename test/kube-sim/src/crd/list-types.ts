import type { Cause } from "../api/definition.ts";
import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { duplicate, invalid } from "./causes.ts";
import { jsonText } from "./go-text.ts";
import type { Schema } from "./schema.ts";

/** Finds what is wrong with a value and with what is in it. */
export type FindCauses = (value: JsonValue, path: string) => Cause[];

/** Lists of type set hold every item once; those of type map every key. undefined: the schema has no such lists. */
export function compileListTypes(schema: Schema): FindCauses | undefined {
  return compileWalk(schema, (node) =>
    node.listType === "set" || node.listType === "map"
      ? (value, path) => (isList(value) ? ownCauses(node, value, path) : [])
      : undefined,
  );
}

/** A walk to those places of a schema that have something to say, and past all others. */
export function compileWalk(
  schema: Schema,
  checkOf: (schema: Schema) => FindCauses | undefined,
): FindCauses | undefined {
  const own = checkOf(schema);
  const items = schema.items === undefined ? undefined : compileWalk(schema.items, checkOf);
  const values = typeof schema.additional === "object" ? compileWalk(schema.additional, checkOf) : undefined;
  const fields = new Map<string, FindCauses>();
  for (const [name, field] of schema.properties) {
    const find = compileWalk(field, checkOf);
    if (find !== undefined) fields.set(name, find);
  }
  if (own === undefined && items === undefined && values === undefined && fields.size === 0) return undefined;
  return (value, path) => {
    const causes = own?.(value, path) ?? [];
    if (isList(value) && items !== undefined) {
      return [...causes, ...value.flatMap((item, index) => items(item, `${path}[${index}]`))];
    }
    if (!isObject(value)) return causes;
    return [...causes, ...fieldCauses({ schema, fields, values }, value, path)];
  };
}

interface Walks {
  readonly schema: Schema;
  readonly fields: ReadonlyMap<string, FindCauses>;
  readonly values: FindCauses | undefined;
}

function fieldCauses({ schema, fields, values }: Walks, value: JsonObject, path: string): Cause[] {
  return Object.keys(value).flatMap((name) => {
    const field = value[name];
    const find = fields.get(name) ?? (schema.properties.has(name) ? undefined : values);
    return field === undefined || find === undefined ? [] : find(field, fieldPath(schema, path, name));
  });
}

/** `spec.labels[app]` for the key of a map, `spec.name` for a field. */
export function fieldPath(schema: Schema, path: string, name: string): string {
  if (!schema.properties.has(name)) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
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
