import { badRequest, tooManyOperations, unprocessable } from "../api/statuses.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { isObject, isSame, own } from "../json-access.ts";
import { added, type Pointer, readPointer, removed, replaced, valueAt } from "./pointer.ts";

const MOST_OPERATIONS = 10_000;

/** RFC 6902: all operations, or, if one does not fit, none. */
export function jsonPatch(object: JsonObject, operations: readonly JsonValue[]): JsonObject {
  if (operations.length > MOST_OPERATIONS) throw tooManyOperations(MOST_OPERATIONS, operations.length);
  let value: JsonValue = object;
  for (const operation of operations) {
    if (!isObject(operation)) throw badRequest("error decoding patch: an operation is no object");
    const next = apply(value, operation);
    if (next === undefined) throw unprocessable();
    value = next;
  }
  if (!isObject(value)) throw unprocessable();
  return value;
}

function apply(value: JsonValue, operation: JsonObject): JsonValue | undefined {
  const path = pointerIn(operation, "path");
  switch (operation["op"]) {
    case "add":
      return added(value, path, operand(operation));
    case "replace":
      return replaced(value, path, operand(operation));
    case "remove":
      return removed(value, path);
    case "move":
      return moved(value, pointerIn(operation, "from"), path);
    case "copy":
      return copied(value, pointerIn(operation, "from"), path);
    case "test":
      return isTrue(value, path, operation) ? value : undefined;
    default:
      return undefined;
  }
}

function moved(value: JsonValue, from: Pointer, path: Pointer): JsonValue | undefined {
  const isIntoItself = path.length > from.length && from.every((part, index) => part === path[index]);
  const found = isIntoItself ? undefined : valueAt(value, from);
  if (found === undefined) return undefined;
  if (from.length === 0) return value;
  const rest = removed(value, from);
  return rest === undefined ? undefined : added(rest, path, found);
}

function copied(value: JsonValue, from: Pointer, path: Pointer): JsonValue | undefined {
  const found = valueAt(value, from);
  return found === undefined ? undefined : added(value, path, found);
}

/** A test for null also holds where there is nothing, as in a real API server. */
function isTrue(value: JsonValue, path: Pointer, operation: JsonObject): boolean {
  return isSame(valueAt(value, path) ?? null, operand(operation));
}

function operand(operation: JsonObject): JsonValue {
  const value = own(operation, "value");
  if (value === undefined) throw unprocessable();
  return value;
}

function pointerIn(operation: JsonObject, name: "path" | "from"): Pointer {
  const text = operation[name];
  const pointer = typeof text === "string" ? readPointer(text) : undefined;
  if (pointer === undefined) throw unprocessable();
  return pointer;
}
