import type { JsonObject, JsonValue } from "../json.ts";
import { isObject, own } from "../json-access.ts";

/** RFC 7386: null takes a field away, objects are merged, everything else is replaced. */
export function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === undefined) merged.delete(name);
    else
      merged.set(
        name,
        isObject(value) ? mergePatch(isObject(target) ? own(target, name) : undefined, value) : value,
      );
  }
  return Object.fromEntries(merged);
}
