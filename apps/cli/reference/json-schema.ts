import type { Schema } from "@resource-broker/contract";
import type { Kind } from "@resource-broker/contract/crd";

export type JsonSchema = { readonly [keyword: string]: unknown };

/** JSON Schema has no word for what our own keywords say; a document for others goes without them. */
export function plain(schema: Schema<unknown>): JsonSchema {
  return withoutOurs(schema);
}

function withoutOurs(schema: object): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) =>
      keyword.startsWith("x-") ? [] : [[keyword, plainValue(value)] as const],
    ),
  );
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return typeof value === "object" && value !== null ? withoutOurs(value) : value;
}

export function listOf(items: JsonSchema, description: string): JsonSchema {
  return { type: "array", description, items };
}

export function oneOf(...choices: readonly JsonSchema[]): JsonSchema {
  return { anyOf: choices };
}

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

export function text(description: string): JsonSchema {
  return { type: "string", description };
}

export function textOrNull(description: string): JsonSchema {
  return { type: ["string", "null"], description };
}

export function flag(description: string): JsonSchema {
  return { type: "boolean", description };
}

export function count(description: string): JsonSchema {
  return { type: "integer", minimum: 0, description };
}

export function texts(description: string): JsonSchema {
  return { type: "array", items: { type: "string" }, description };
}

export function choice(description: string, ...values: readonly string[]): JsonSchema {
  return { type: "string", enum: values, description };
}

/** An object as the API server holds it: its own fields, and whatever Kubernetes adds to the metadata. */
export function kubernetesObject({
  kind,
  group,
  version,
  description,
  spec,
  status,
}: Kind<unknown, unknown>): JsonSchema {
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
