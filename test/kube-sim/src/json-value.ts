import type { JsonObject, JsonValue } from "./json.ts";

/** What JSON parsers make is JSON; YAML may also make dates, big numbers and sets. */
export function isJson(value: unknown): value is JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  return Array.isArray(value) ? value.every(isJson) : isJsonObject(value);
}

export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}
