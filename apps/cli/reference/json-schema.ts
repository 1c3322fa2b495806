import type { Schema } from "@resource-broker/contract";
import type { Kind } from "@resource-broker/contract/crd";

export type JsonSchema = { readonly [keyword: string]: unknown };

/** JSON Schema has no word for what our own keywords say; a document for others goes without them. */
export function plain(schema: Schema<unknown>): JsonSchema {
  const isOurs = (keyword: string): boolean => keyword.startsWith("x-");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a schema without some of its keywords
  return JSON.parse(
    JSON.stringify(schema, (keyword, value: unknown) => (isOurs(keyword) ? undefined : value)),
  ) as JsonSchema;
}

export const listOf = (items: JsonSchema, description: string) => ({ type: "array", description, items });
export const oneOf = (...choices: readonly JsonSchema[]) => ({ anyOf: choices });
export const text = (description: string) => ({ type: "string", description });
export const textOrNull = (description: string) => ({ type: ["string", "null"], description });
export const flag = (description: string) => ({ type: "boolean", description });
export const count = (description: string) => ({ type: "integer", minimum: 0, description });
export const texts = (description: string) => ({ type: "array", items: { type: "string" }, description });
export const choice = (description: string, ...values: readonly string[]) => ({
  type: "string",
  enum: values,
  description,
});

/** All of these fields and no other; a name that ends with `?` may be missing. */
export function shape(description: string, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const entries = Object.entries(fields);
  return {
    type: "object",
    description,
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/u, ""), schema])),
    required: entries.map(([name]) => name).filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** An object as the API server holds it: its own fields, and whatever Kubernetes adds to the metadata. */
export function kubernetesObject(definition: Kind<unknown, unknown>): JsonSchema {
  const { kind, group, version, description, spec, status } = definition;
  return {
    type: "object",
    description,
    properties: {
      apiVersion: { const: `${group}/${version}` },
      kind: { const: kind },
      metadata: { type: "object", description: "As every Kubernetes object has it." },
      spec: plain(spec),
      status: plain(status),
    },
    required: ["apiVersion", "kind", "metadata", "spec"],
  };
}
