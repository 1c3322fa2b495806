import type { JsonObject } from "../../json.ts";

/** The words that the schemas of the built-in kinds are written in. */

export type Fields = Readonly<Record<string, JsonObject>>;

export const text = (description: string): JsonObject => ({ type: "string", description });
export const flag = (description: string): JsonObject => ({ type: "boolean", description });
export const whole = (description: string): JsonObject => ({
  type: "integer",
  format: "int32",
  description,
});
export const long = (description: string): JsonObject => ({ type: "integer", format: "int64", description });
export const time = (description: string): JsonObject => ({
  type: "string",
  format: "date-time",
  description,
});
export const bytes = (description: string): JsonObject => ({ type: "string", format: "byte", description });

/** A number or a text: ports by number or name, shares. */
export const numberOrText = (description: string): JsonObject => ({
  "x-kubernetes-int-or-string": true,
  description,
});

/** An amount such as `500m` or `4Gi`, written as text or as a number. */
const quantity = (description: string): JsonObject => ({
  format: "quantity",
  "x-kubernetes-int-or-string": true,
  description,
});

export const oneOf = (values: readonly string[], description: string): JsonObject => ({
  type: "string",
  enum: values,
  description,
});

export const struct = (
  description: string,
  properties: Fields,
  required: readonly string[] = [],
): JsonObject => ({
  type: "object",
  description,
  properties,
  ...(required.length === 0 ? {} : { required }),
});

export const list = (items: JsonObject, description: string): JsonObject => ({
  type: "array",
  description,
  items,
});

export const texts = (description: string): JsonObject => list({ type: "string" }, description);

export const mapOf = (values: JsonObject, description: string): JsonObject => ({
  type: "object",
  description,
  additionalProperties: values,
});

export const textMap = (description: string): JsonObject => mapOf({ type: "string" }, description);
export const quantities = (description: string): JsonObject => mapOf(quantity(""), description);

/** Taken as it is: its fields are not modelled here. */
export const anything = (description: string): JsonObject => ({
  type: "object",
  description,
  "x-kubernetes-preserve-unknown-fields": true,
});
