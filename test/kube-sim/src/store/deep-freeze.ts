import type { JsonValue } from "../json.ts";

/** Stops at what is frozen already: a write shares most of its object with the one before it. */
export function deepFreeze<Value extends JsonValue | undefined>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
