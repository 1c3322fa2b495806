import type { Cause } from "../api/definition.ts";
import { invalid } from "../crd/causes.ts";
import { sameJson } from "../crd/same-json.ts";
import type { JsonObject } from "../json.ts";
import { valueAt } from "./look.ts";

/** Refuses changes of fields that stay as they were created. */
export function unchanged(
  object: JsonObject,
  old: JsonObject | undefined,
  paths: readonly string[],
): readonly Cause[] {
  if (old === undefined) return [];
  return paths.flatMap((path) => {
    const value = valueAt(object, path);
    return sameJson(value, valueAt(old, path)) ? [] : [invalid(path, value ?? null, "field is immutable")];
  });
}
