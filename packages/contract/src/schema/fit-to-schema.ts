import { safeLine, safeText, truncate } from "@resource-broker/base";
import { ONE_LINE } from "./builders.ts";
import type { Schema, SchemaNode } from "./node.ts";

/**
 * Truncates the free texts (`line`, `prose`) of a value to the lengths of its schema and makes them safe, so that a long text
 * does not make the whole object invalid. IDs and other fields are not changed.
 */
export function fitToSchema<T>(schema: Schema<T>, value: T): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only texts change, and they stay texts
  return fitNode(schema, value) as T;
}

function fitNode(node: SchemaNode, value: unknown): unknown {
  if (typeof value === "string") return fitText(node, value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const { items } = node;
    return items === undefined ? value : value.map((item) => fitNode(items, item));
  }
  const entries = Object.entries(value).map(([name, part]) => {
    const child = node.properties?.[name] ?? node.additionalProperties;
    return [name, child === undefined ? part : fitNode(child, part)] as const;
  });
  return Object.fromEntries(entries);
}

function fitText({ format, enum: choices, pattern, maxLength }: SchemaNode, text: string): string {
  if (format !== undefined || choices !== undefined || maxLength === undefined) return text;
  if (pattern === undefined) return truncate(safeText(text), maxLength);
  return pattern === ONE_LINE ? truncate(safeLine(text), maxLength) : text;
}
