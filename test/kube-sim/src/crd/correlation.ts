import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { sameJson } from "./same-json.ts";
import { type Schema, schemaOfField } from "./schema.ts";

/** The old item that a new one follows: only lists of type map say which it is. */
export function correlatedItem(
  schema: Schema,
  item: JsonValue,
  old: JsonValue | undefined,
): JsonValue | undefined {
  if (schema.listType !== "map" || !isList(old) || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && hasSameKeys(item, other, schema.listMapKeys));
}

function hasSameKeys(a: JsonObject, b: JsonObject, keys: readonly string[]): boolean {
  return keys.every((key) => sameJson(a[key], b[key]));
}

/** A value beside the old one it follows. Where nobody can tell, the nearest pair around it stands for it. */
export interface Correlation {
  readonly schema: Schema;
  readonly value: JsonValue;
  readonly old: JsonValue;
  /** False: this is the pair around the value. */
  readonly isOwn: boolean;
}

export function correlatedField(
  schema: Schema,
  around: Correlation | undefined,
  name: string,
): Correlation | undefined {
  if (around === undefined || !around.isOwn) return around;
  const { value, old } = around;
  const now = isObject(value) ? value[name] : undefined;
  const before = isObject(old) ? old[name] : undefined;
  const known = schemaOfField(schema, name);
  const isKnown = now !== undefined && before !== undefined && known !== undefined;
  return isKnown ? { schema: known, value: now, old: before, isOwn: true } : { ...around, isOwn: false };
}

export function correlatedEntry(
  schema: Schema,
  around: Correlation | undefined,
  item: JsonValue,
): Correlation | undefined {
  if (around === undefined || !around.isOwn) return around;
  const old = correlatedItem(schema, item, around.old);
  const { items } = schema;
  if (old === undefined || items === undefined) return { ...around, isOwn: false };
  return { schema: items, value: item, old, isOwn: true };
}

/**
 * Whether a value is what it was. Kubernetes asks the schema: a field it knows nothing of counts as changed, which
 * also makes every whole object count so, because of its metadata.
 */
export function isUnchanged(schema: Schema, value: JsonValue, old: JsonValue): boolean {
  if (isList(value)) return isList(old) && value.length === old.length && sameItems(schema, value, old);
  if (!isObject(value)) return sameJson(value, old);
  if (!isObject(old)) return false;
  const names = Object.keys(value);
  if (names.length !== Object.keys(old).length) return false;
  return names.every((name) => {
    const known = schemaOfField(schema, name);
    const now = value[name];
    const before = old[name];
    return (
      known !== undefined && now !== undefined && before !== undefined && isUnchanged(known, now, before)
    );
  });
}

function sameItems(schema: Schema, value: readonly JsonValue[], old: readonly JsonValue[]): boolean {
  const { items } = schema;
  if (schema.listType !== "map" || items === undefined) return sameJson(value, old);
  return value.every((item) => {
    const before = correlatedItem(schema, item, old);
    return before !== undefined && isUnchanged(items, item, before);
  });
}

/** Whether what was wrong with a value, or with what stands for it, was wrong before. */
export function isUnchangedValue(correlation: Correlation | undefined): boolean {
  if (correlation === undefined) return false;
  const { schema, value, old } = correlation;
  return isUnchanged(schema, value, old);
}
