import type { JsonObject, JsonValue } from "../../json.ts";

/** A schema, an object written to a server that has it, and perhaps the object it replaces. */
export interface OracleCase {
  readonly name: string;
  /** `openAPIV3Schema` of the kind Thing in example.com/v1. */
  readonly schema: JsonObject;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly isStatus?: boolean;
}

/** Kubernetes' answer to one case; what is absent is empty. */
export interface OracleVerdict {
  readonly name: string;
  /** Why the schema is refused. */
  readonly definition?: readonly OracleProblem[];
  readonly unknown?: readonly string[];
  /** What would be stored. */
  readonly object?: JsonObject;
  readonly causes?: readonly OracleProblem[];
  readonly warnings?: readonly string[];
}

export interface OracleProblem {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

const KIND = { apiVersion: "example.com/v1", kind: "Thing" };

export function thing(parts: JsonObject): JsonObject {
  return { ...KIND, metadata: { name: "one", namespace: "default", resourceVersion: "1" }, ...parts };
}

export function rootSchema(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: "object", properties, ...more };
}

/** A schema whose one field is `spec.x`. */
export function fieldSchema(field: JsonObject, more: JsonObject = {}): JsonObject {
  return rootSchema({ spec: { type: "object", properties: { x: field }, ...more } });
}

/** The field `spec.x` with a schema, and a value in it. */
export function field(name: string, schema: JsonObject, value: JsonValue): OracleCase {
  return { name, schema: fieldSchema(schema), object: thing({ spec: { x: value } }) };
}

/** The field `spec.x` that becomes another value. */
export function change(
  name: string,
  schema: JsonObject,
  { from, to }: { readonly from: JsonValue; readonly to: JsonValue },
): OracleCase {
  return { ...field(name, schema, to), old: thing({ spec: { x: from } }) };
}

/** A rule on the field `spec.x`. */
export function rule(
  expression: string,
  schema: JsonObject,
  value: JsonValue,
  more: JsonObject = {},
): OracleCase {
  const details = Object.keys(more).length === 0 ? "" : ` with ${JSON.stringify(more)}`;
  const name = `rule ${JSON.stringify(expression)} on ${JSON.stringify(value)}${details}`;
  return field(name, { ...schema, "x-kubernetes-validations": [{ rule: expression, ...more }] }, value);
}
