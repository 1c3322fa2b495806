import { badRequest, unprocessable } from "../api/statuses.ts";
import { isList, isObject, isSame, type JsonObject, type JsonValue, own, without } from "../json.ts";

/** RFC 7386: null takes a field away, objects are merged, everything else is replaced. */
export function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const old = isObject(target) ? target : {};
  const merged = new Map(Object.entries(old));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === undefined) merged.delete(name);
    else merged.set(name, isObject(value) ? mergePatch(own(old, name), value) : value);
  }
  return Object.fromEntries(merged);
}

/** RFC 6902 without `move` and `copy`: all operations, or, if one does not fit, none. */
export function jsonPatch(object: JsonObject, operations: readonly JsonValue[]): JsonObject {
  // With a holder around it, the object as a whole is a place like any other.
  let value: JsonValue = { "": object };
  for (const operation of operations) {
    if (!isObject(operation)) throw badRequest("error decoding patch: an operation is no object");
    value = operated(value, operation);
  }
  const result = partOf(value, "");
  if (isObject(result)) return result;
  throw unprocessable();
}

function operated(value: JsonValue, operation: JsonObject): JsonValue {
  const path = pointerIn(operation);
  switch (operation["op"]) {
    case "add":
      return added(value, path, operand(operation));
    case "replace":
      return edited(value, path, (holder, part) => {
        existing(holder, part);
        return withPart(holder, part, operand(operation));
      });
    case "remove":
      return removed(value, path);
    case "test":
      // A test for null also holds where there is nothing, as in a real API server.
      if (!isSame(path.reduce(partOf, value) ?? null, operand(operation))) throw unprocessable();
      return value;
    default:
      throw unprocessable();
  }
}

function operand(operation: JsonObject): JsonValue {
  const value = own(operation, "value");
  if (value === undefined) throw unprocessable();
  return value;
}

/** RFC 6901, below the holder. */
type Pointer = readonly string[];

function pointerIn({ path: text }: JsonObject): Pointer {
  if (typeof text !== "string" || !/^(?:\/|$)/u.test(text) || /~(?![01])/u.test(text)) throw unprocessable();
  return text.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function partOf(value: JsonValue | undefined, part: string): JsonValue | undefined {
  if (isList(value)) return value[indexOf(part, value)];
  return isObject(value) ? own(value, part) : undefined;
}

function existing(value: JsonValue | undefined, part: string): JsonValue {
  const inner = partOf(value, part);
  if (inner === undefined) throw unprocessable();
  return inner;
}

/** `-` is the place after the last; what is no index is NaN. */
function indexOf(part: string, list: readonly JsonValue[]): number {
  if (part === "-") return list.length;
  return /^(?:0|[1-9]\d*)$/u.test(part) ? Number(part) : Number.NaN;
}

type Holder = JsonObject | readonly JsonValue[];

/** With what an edit makes of the holder of a place; nothing is changed where it stands. */
function edited(
  value: JsonValue,
  [part = "", ...rest]: Pointer,
  edit: (holder: Holder, part: string) => JsonValue,
): JsonValue {
  if (!isList(value) && !isObject(value)) throw unprocessable();
  if (rest.length === 0) return edit(value, part);
  return withPart(value, part, edited(existing(value, part), rest, edit));
}

function withPart(holder: Holder, part: string, value: JsonValue): JsonValue {
  return isList(holder) ? holder.with(indexOf(part, holder), value) : { ...holder, [part]: value };
}

/** Set in an object, inserted into a list. */
function added(value: JsonValue, pointer: Pointer, item: JsonValue): JsonValue {
  return edited(value, pointer, (holder, part) => {
    if (!isList(holder)) return withPart(holder, part, item);
    const index = indexOf(part, holder);
    if (Number.isNaN(index) || index > holder.length) throw unprocessable();
    return holder.toSpliced(index, 0, item);
  });
}

function removed(value: JsonValue, pointer: Pointer): JsonValue {
  return edited(value, pointer, (holder, part) => {
    existing(holder, part);
    return isList(holder) ? holder.toSpliced(indexOf(part, holder), 1) : without(holder, part);
  });
}
