import type { Cause } from "../api/definition.ts";
import type { JsonValue } from "../json.ts";
import { quoted, valueText } from "./go-text.ts";

/** Why a field is refused, in Kubernetes' words. `undefined` as value: it is not shown. */

export function invalid(field: string, value: JsonValue | undefined, detail: string): Cause {
  return {
    reason: "FieldValueInvalid",
    field,
    message: withDetail(withValue("Invalid value", value), detail),
  };
}

export function typeInvalid(field: string, value: JsonValue, detail: string): Cause {
  return { ...invalid(field, value, detail), reason: "FieldValueTypeInvalid" };
}

export function required(field: string, detail = ""): Cause {
  return { reason: "FieldValueRequired", field, message: withDetail("Required value", detail) };
}

export function forbidden(field: string, detail: string): Cause {
  return { reason: "FieldValueForbidden", field, message: withDetail("Forbidden", detail) };
}

export function duplicate(field: string, value: JsonValue | undefined): Cause {
  return { reason: "FieldValueDuplicate", field, message: withValue("Duplicate value", value) };
}

export function notSupported(field: string, value: JsonValue, supported: readonly string[]): Cause {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(quoted).join(", ")}`;
  return {
    reason: "FieldValueNotSupported",
    field,
    message: withDetail(withValue("Unsupported value", value), detail),
  };
}

export function tooLong(field: string, most: number): Cause {
  const unit = most === 1 ? "byte" : "bytes";
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${most} ${unit}` };
}

export function tooMany(field: string, found: number, most: number): Cause {
  const unit = most === 1 ? "item" : "items";
  return {
    reason: "FieldValueTooMany",
    field,
    message: `Too many: ${found}: must have at most ${most} ${unit}`,
  };
}

function withValue(text: string, value: JsonValue | undefined): string {
  return value === undefined ? text : `${text}: ${valueText(value)}`;
}

function withDetail(text: string, detail: string): string {
  return detail === "" ? text : `${text}: ${detail}`;
}
