import { isList, isObject } from "../../core/look.ts";
import type { JsonObject } from "../../json.ts";

/** A node of the schema of a CustomResourceDefinition, as it was written. */
export interface SchemaNode {
  readonly raw: JsonObject;
  readonly path: string;
  readonly level: "root" | "item" | "field";
}

/** The schemas of the values inside: items, fields, and the values of maps. */
export function innerNodes({ raw, path }: SchemaNode): readonly SchemaNode[] {
  const nodes: SchemaNode[] = [];
  const { items, properties, additionalProperties: additional } = raw;
  if (isObject(items)) nodes.push({ raw: items, path: `${path}.items`, level: "item" });
  if (isObject(properties)) nodes.push(...fieldNodes(properties, path));
  if (isObject(additional))
    nodes.push({ raw: additional, path: `${path}.additionalProperties`, level: "field" });
  return nodes;
}

/** The schemas that a value must meet as well: `anyOf` and its like. */
export function nestedNodes({ raw, path, level }: SchemaNode): readonly SchemaNode[] {
  const lists = ["anyOf", "allOf", "oneOf"].flatMap((word) => {
    const parts = raw[word];
    if (!isList(parts)) return [];
    return parts.flatMap((part, index) =>
      isObject(part) ? [{ raw: part, path: `${path}.${word}[${index}]`, level }] : [],
    );
  });
  return isObject(raw["not"]) ? [...lists, { raw: raw["not"], path: `${path}.not`, level }] : lists;
}

/** The node and all below it that describe values, without `anyOf` and its like. */
export function allNodes(node: SchemaNode): readonly SchemaNode[] {
  return [node, ...innerNodes(node).flatMap(allNodes)];
}

function fieldNodes(properties: JsonObject, path: string): SchemaNode[] {
  return Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) ? [{ raw: field, path: `${path}.properties[${name}]`, level: "field" as const }] : [],
  );
}
