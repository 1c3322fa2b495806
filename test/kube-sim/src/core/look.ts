import type { JsonObject, JsonValue } from "../json.ts";
import { isList, isObject } from "../json-access.ts";

export { isList, isObject, nameOf, namespaceOf } from "../json-access.ts";

/** Reading by path what nobody has promised: what is absent, or of another type, reads as empty. */

export function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let found = value;
  for (const name of path.split(".")) {
    if (!isObject(found)) return undefined;
    found = found[name];
  }
  return found;
}

export function textAt(value: JsonValue | undefined, path: string): string {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: JsonValue | undefined, path: string): number {
  const found = valueAt(value, path);
  return typeof found === "number" ? found : 0;
}

export function objectAt(value: JsonValue | undefined, path: string): JsonObject {
  const found = valueAt(value, path);
  return isObject(found) ? found : {};
}

/** The members of a list that are objects. */
export function objectsAt(value: JsonValue | undefined, path: string): readonly JsonObject[] {
  const found = valueAt(value, path);
  return isList(found) ? found.filter(isObject) : [];
}

/** A condition of `status.conditions`. */
export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(object, "status.conditions").find((condition) => condition["type"] === type);
}

/** A text, number or boolean as text; empty for anything else. */
export function scalarText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** The members of a list as texts. */
export function textsAt(value: JsonValue | undefined, path: string): readonly string[] {
  const found = valueAt(value, path);
  return isList(found) ? found.map(scalarText) : [];
}
