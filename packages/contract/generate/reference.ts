import type { Kind } from "../src/crd/kind.ts";
import { FAULTS } from "../src/faults/fault-table.ts";
import type { SchemaNode } from "../src/schema/node.ts";

const GENERATED = "<!-- Generated from packages/contract. Do not edit: run `npm run generate`. -->\n";

/** docs/reference/faults.md: every code, and what to do. */
export function faultsReference(): string {
  const rows = Object.entries(FAULTS).map(
    ([code, { status, retry, advice }]) =>
      `| \`${code}\` | ${status} | ${retry ? "yes" : "no"} | ${advice} |`,
  );
  return [
    GENERATED,
    "# Faults",
    "",
    "Every error reply has the body `{error, code, reasons?, decisionID?}`. `code` is one of these and never changes its meaning.",
    '"Ask again" means that the same request may succeed later, unchanged, and that nothing was booked.',
    "",
    "| Code | Status | Ask again | What to do |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** docs/reference/crds.md: every field of every kind; shapes that occur often are described once, at the end. */
export function kindsReference(kinds: readonly Kind<unknown, unknown>[]): string {
  const shapes = new Map<string, SchemaNode>();
  for (const { spec, status } of kinds) for (const node of [spec, status]) gatherShapes(node, shapes);
  return [
    GENERATED,
    "# Kubernetes objects",
    "",
    "`kubectl get resourcebroker` lists the objects of every kind. Needs Kubernetes 1.29 or newer.",
    "",
    ...kinds.flatMap(kindSection),
    "## Shared shapes",
    "",
    ...[...shapes].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(shapeSection),
  ].join("\n");
}

function kindSection(kind: Kind<unknown, unknown>): string[] {
  return [
    `## ${kind.kind}`,
    "",
    `\`${kind.group}/${kind.version}\`, short name \`${kind.shortNames.join("`, `")}\`. ${kind.description}`,
    "",
    ...TABLE_HEAD,
    ...fieldRows(kind.spec, "spec."),
    ...fieldRows(kind.status, "status."),
    "",
  ];
}

function shapeSection([title, node]: readonly [string, SchemaNode]): string[] {
  return [`### ${shapeName(title)}`, "", ...TABLE_HEAD, ...fieldRows(node, ""), ""];
}

const TABLE_HEAD = ["| Field | Type | | Meaning |", "|---|---|---|---|"];

function gatherShapes(node: SchemaNode, shapes: Map<string, SchemaNode>): void {
  for (const child of childrenOf(node)) {
    if (child.title !== undefined) shapes.set(child.title, child);
    gatherShapes(child, shapes);
  }
}

function childrenOf({ properties = {}, items, additionalProperties }: SchemaNode): SchemaNode[] {
  return [...Object.values(properties), items, additionalProperties].filter((child) => child !== undefined);
}

function shapeName(title: string): string {
  return title.replace(/DTO$/, "");
}

function fieldRows(node: SchemaNode, path: string): string[] {
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

function typeName(node: SchemaNode): string {
  if (node.title !== undefined) return `[${shapeName(node.title)}](#${shapeName(node.title).toLowerCase()})`;
  if (node.enum !== undefined) return node.enum.map((choice) => `\`${choice}\``).join(" or ");
  if (node.items !== undefined) return `list of ${typeName(node.items)}`;
  if (node.additionalProperties !== undefined) return `map of ${typeName(node.additionalProperties)}`;
  if (node.format !== undefined) return FORMAT_NAMES[node.format] ?? node.format;
  return node.type === "string" ? "text" : String(node.type);
}
