import type { JsonObject, JsonValue } from "../../json.ts";
import { isList, isObject, isSame, own } from "../../json-access.ts";
import { type FieldSet, fieldSet, MEMBER, NO_FIELDS } from "./field-set.ts";
import { itemsByStep } from "./items.ts";
import type { Shape } from "./shape.ts";

/** The parts of a value that are looked at one by one; undefined: the value is one thing. */
export function partsOf(value: JsonValue, shape: Shape): ReadonlyMap<string, JsonValue> | undefined {
  if (isObject(value)) return shape.isAtomic ? undefined : fieldsByStep(value);
  if (isList(value) && shape.list.kind !== "atomic") return itemsByStep(value, shape.list);
  return undefined;
}

function fieldsByStep(object: JsonObject): ReadonlyMap<string, JsonValue> {
  const fields = new Map<string, JsonValue>();
  for (const name of Object.keys(object)) {
    const value = own(object, name);
    if (value !== undefined) fields.set(`f:${name}`, value);
  }
  return fields;
}

export function shapeBelow(shape: Shape, step: string): Shape {
  return step.startsWith("f:") ? shape.field(step.slice(2)) : shape.item();
}

/** Every field a value has. */
export function fieldsOf(value: JsonValue, shape: Shape): FieldSet {
  const parts = partsOf(value, shape);
  if (parts === undefined || parts.size === 0) return MEMBER;
  return fieldSet(
    false,
    [...parts].map(([step, part]) => [step, partFields(step, fieldsOf(part, shapeBelow(shape, step)))]),
  );
}

/** An item is a member itself: whoever owns it keeps it in the list. */
function partFields(step: string, below: FieldSet): FieldSet {
  return step.startsWith("f:") ? below : { ...below, isMember: true };
}

export interface Difference {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet;
  readonly gone: FieldSet;
}

const NO_DIFFERENCE: Difference = { changed: NO_FIELDS, gone: NO_FIELDS };

export function compare(old: JsonValue | undefined, next: JsonValue | undefined, shape: Shape): Difference {
  if (isSame(old, next)) return NO_DIFFERENCE;
  if (next === undefined)
    return { changed: NO_FIELDS, gone: old === undefined ? NO_FIELDS : fieldsOf(old, shape) };
  if (old === undefined) return { changed: fieldsOf(next, shape), gone: NO_FIELDS };
  const before = partsOf(old, shape);
  const after = partsOf(next, shape);
  if (before === undefined || after === undefined || before.size === 0 || after.size === 0) {
    return { changed: fieldsOf(next, shape), gone: before === undefined ? NO_FIELDS : fieldsOf(old, shape) };
  }
  return compareParts(before, after, shape);
}

function compareParts(
  before: ReadonlyMap<string, JsonValue>,
  after: ReadonlyMap<string, JsonValue>,
  shape: Shape,
): Difference {
  const steps = [...new Set([...before.keys(), ...after.keys()])];
  const below = steps.map((step) => {
    const was = before.get(step);
    const is = after.get(step);
    const { changed, gone } = compare(was, is, shapeBelow(shape, step));
    return {
      step,
      changed: was === undefined ? partFields(step, changed) : changed,
      gone: is === undefined ? partFields(step, gone) : gone,
    };
  });
  return {
    changed: fieldSet(
      false,
      below.map(({ step, changed }) => [step, changed]),
    ),
    gone: fieldSet(
      false,
      below.map(({ step, gone }) => [step, gone]),
    ),
  };
}
