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
  const isKnown = now !== undefined && before !== undefined && schemaOfField(schema, name) !== undefined;
  return isKnown ? { value: now, old: before, isOwn: true } : { ...around, isOwn: false };
}

export function correlatedEntry(
  schema: Schema,
  around: Correlation | undefined,
  item: JsonValue,
): Correlation | undefined {
  if (around === undefined || !around.isOwn) return around;
  const old = correlatedItem(schema, item, around.old);
  return old === undefined ? { ...around, isOwn: false } : { value: item, old, isOwn: true };
}

/** Whether nothing changed there. */
export function isUnchanged(correlation: Correlation | undefined): boolean {
  return correlation !== undefined && sameJson(correlation.value, correlation.old);
}
