import type { Cause } from "./definition.ts";

export function invalidValue(field: string, value: string, why: string): Cause {
  return {
    reason: "FieldValueInvalid",
    field,
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  };
}

export function requiredValue(field: string, why: string): Cause {
  return { reason: "FieldValueRequired", field, message: `Required value: ${why}` };
}

export function forbiddenValue(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` };
}
