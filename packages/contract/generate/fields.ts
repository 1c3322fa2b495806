import type { SchemaNode } from "../src/schema/node.ts";

export const TABLE_HEAD = ["| Field | Type | | Meaning |", "|---|---|---|---|"];

/** A table of its own for each shape with a title in these nodes. */
export function shapesSection(nodes: readonly SchemaNode[]): string[] {
  const sorted = [...new Map(shapesIn(nodes))].sort(([a], [b]) => (a < b ? -1 : 1));
  return ["## Shared shapes", "", ...sorted.flatMap(shapeSection)];
}

function shapesIn(nodes: readonly SchemaNode[]): (readonly [title: string, node: SchemaNode])[] {
  return nodes.flatMap((node) => [
    ...(node.title === undefined ? [] : [[node.title, node] as const]),
    ...shapesIn(childrenOf(node)),
  ]);
}

function shapeSection([title, node]: readonly [string, SchemaNode]): string[] {
  return [`### ${shapeName(title)}`, "", ...TABLE_HEAD, ...fieldRows(node, ""), ""];
}

export function childrenOf({ properties = {}, items, additionalProperties }: SchemaNode): SchemaNode[] {
  return [...Object.values(properties), items, additionalProperties].filter((child) => child !== undefined);
}

function shapeName(title: string): string {
  return title.replace(/DTO$/, "");
}

export function fieldRows(node: SchemaNode, path: string): string[] {
  const required = new Set(node.required);
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => [
    row(`${path}${name}`, child, required.has(name)),
    ...innerRows(child, `${path}${name}`),
  ]);
}

function innerRows(node: SchemaNode, path: string): string[] {
  if (node.title !== undefined) return [];
  if (node.items !== undefined) return fieldRows(node.items, `${path}[].`);
  if (node.additionalProperties !== undefined) return innerRows(node.additionalProperties, `${path}.<name>`);
  return fieldRows(node, `${path}.`);
}

function row(path: string, node: SchemaNode, isRequired: boolean): string {
  const examples = (node.examples ?? []).filter((example) => typeof example !== "object");
  const shown = examples.length === 0 ? "" : ` For example \`${examples.map(String).join("`, `")}\`.`;
  const lock = node["x-lock"] === undefined ? "" : " Cannot be changed.";
  return `| \`${path}\` | ${typeName(node)} | ${isRequired ? "required" : ""} | ${node.description}${shown}${lock} |`;
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  "date-time": "time",
  "go-duration": "duration",
  "cluster-id": "cluster ID",
};

/** With a link to the table of a shape. */
export function typeName(node: SchemaNode): string {
  if (node.title !== undefined) return `[${shapeName(node.title)}](#${shapeName(node.title).toLowerCase()})`;
  if (node.enum !== undefined) return node.enum.map((choice) => `\`${choice}\``).join(" or ");
  if (node.items !== undefined) return `list of ${typeName(node.items)}`;
  if (node.additionalProperties !== undefined) return `map of ${typeName(node.additionalProperties)}`;
  if (node.format !== undefined) return FORMAT_NAMES[node.format] ?? node.format;
  return node.type === "string" ? "text" : String(node.type);
}
