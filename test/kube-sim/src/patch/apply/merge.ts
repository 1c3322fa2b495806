import type { JsonObject, JsonValue } from "../../json.ts";
import { isList, isObject } from "../../json-access.ts";
import { partsOf, shapeBelow } from "./compare.ts";
import { type FieldSet, fieldSet, isEmpty, NO_FIELDS } from "./field-set.ts";
import { keysIn } from "./items.ts";
import type { Shape } from "./shape.ts";

/** The live value with what is applied laid over it. */
export function merged(live: JsonValue | undefined, applied: JsonValue, shape: Shape): JsonValue {
  const before = live === undefined ? undefined : partsOf(live, shape);
  const wanted = partsOf(applied, shape);
  if (before === undefined || wanted === undefined || isList(live) !== isList(applied)) return applied;
  const parts = new Map<string, JsonValue>();
  for (const step of order([...before.keys()], [...wanted.keys()])) {
    const part = wanted.get(step);
    const old = before.get(step);
    const next = part === undefined ? old : merged(old, part, shapeBelow(shape, step));
    if (next !== undefined) parts.set(step, next);
  }
  return assembled(parts, applied);
}

/** What is applied comes in its own order; what only lives stays behind what it stood behind. */
function order(live: readonly string[], wanted: readonly string[]): readonly string[] {
  const isWanted = new Set(wanted);
  const placed = new Set<string>();
  const queue = [...wanted];
  for (const step of live) {
    if (!isWanted.has(step)) {
      placed.add(step);
      continue;
    }
    while (!placed.has(step) && queue.length > 0) placed.add(queue.shift() ?? step);
  }
  for (const step of queue) placed.add(step);
  return [...placed];
}

function assembled(parts: ReadonlyMap<string, JsonValue>, like: JsonValue): JsonValue {
  if (isList(like)) return [...parts.values()];
  return Object.fromEntries([...parts].map(([step, part]) => [step.slice(2), part]));
}

export interface Removal {
  readonly fields: FieldSet;
  /** What others own: nothing of it is taken away, nor what holds it. */
  readonly kept: FieldSet;
}

/** The value without these fields; what is emptied by that goes too. Undefined: nothing is left. */
export function pruned(value: JsonValue, { fields, kept }: Removal, shape: Shape): JsonValue | undefined {
  if (fields.isMember && isEmpty(kept)) return undefined;
  const parts = partsOf(value, shape);
  if (parts === undefined || fields.children.size === 0) return value;
  const rest = new Map(
    [...parts].flatMap(([step, part]) => {
      const left = prunedPart(part, below({ fields, kept }, step), shapeBelow(shape, step));
      return left === undefined ? [] : [[step, left] as const];
    }),
  );
  const isEmptied = rest.size === 0 && !kept.isMember;
  return isEmptied ? undefined : assembled(rest, value);
}

function prunedPart(part: JsonValue, removal: Removal, shape: Shape): JsonValue | undefined {
  return isEmpty(removal.fields) ? part : pruned(part, removal, shape);
}

function below({ fields, kept }: Removal, step: string): Removal {
  const gone = fields.children.get(step) ?? NO_FIELDS;
  return { fields: withoutKeys(gone, step), kept: kept.children.get(step) ?? NO_FIELDS };
}

/** An item that stays keeps the fields by which it is known. */
function withoutKeys(fields: FieldSet, step: string): FieldSet {
  const keys = new Set(keysIn(step).map((key) => `f:${key}`));
  return fieldSet(
    fields.isMember,
    [...fields.children].filter(([name]) => !keys.has(name)),
  );
}

export function asObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}
