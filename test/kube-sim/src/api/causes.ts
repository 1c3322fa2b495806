import { isList, isObject, type JsonValue } from "../json.ts";
import type { Cause } from "./cluster-api.ts";

/** Why a field is refused, in Kubernetes' words. `undefined` as value: it is not shown. */

export function invalid(field: string, value: JsonValue | undefined, detail: string): Cause {
  return { reason: "FieldValueInvalid", field, message: worded("Invalid value", value, detail) };
}

export function typeInvalid(field: string, value: JsonValue, detail: string): Cause {
  return { ...invalid(field, value, detail), reason: "FieldValueTypeInvalid" };
}

export function required(field: string, detail = ""): Cause {
  return { reason: "FieldValueRequired", field, message: worded("Required value", undefined, detail) };
}

export function forbidden(field: string, detail: string): Cause {
  return { reason: "FieldValueForbidden", field, message: worded("Forbidden", undefined, detail) };
}

export function duplicate(field: string, value: JsonValue | undefined): Cause {
  return { reason: "FieldValueDuplicate", field, message: worded("Duplicate value", value, "") };
}

export function notSupported(field: string, value: JsonValue, supported: readonly string[]): Cause {
  const names = supported.map((name) => JSON.stringify(name)).join(", ");
  const message = worded("Unsupported value", value, `supported values: ${names}`);
  return { reason: "FieldValueNotSupported", field, message };
}

export function tooLong(field: string, most: number): Cause {
  const message = `Too long: may not be more than ${most} bytes`;
  return { reason: "FieldValueTooLong", field, message };
}

export function tooMany(field: string, found: number, most: number): Cause {
  const message = `Too many: ${found}: must have at most ${most} items`;
  return { reason: "FieldValueTooMany", field, message };
}

/** JSON with sorted names: equal values have equal texts. */
export function jsonText(value: JsonValue): string {
  if (isList(value)) return `[${value.map(jsonText).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${jsonText(value[name] ?? null)}`).join(",")}}`;
}

function worded(text: string, value: JsonValue | undefined, detail: string): string {
  return [text, ...(value === undefined ? [] : [jsonText(value)]), ...(detail === "" ? [] : [detail])].join(
    ": ",
  );
}
