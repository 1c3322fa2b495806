import { KINDS } from "../src/crd/definition.ts";
import type { Kind } from "../src/crd/kind.ts";
import type { SchemaNode } from "../src/schema/node.ts";
import { LIMIT } from "../src/wire/protocol.ts";
import { NAMED } from "./openapi/components.ts";
import { GENERATED } from "./reference.ts";

/** One bound of a schema: where it is, and what has it. */
export interface Bound {
  readonly path: string;
  readonly node: SchemaNode;
  readonly kind: "items" | "names" | "characters" | "number";
  readonly most: number;
}

/** Every bound in a schema. A shape with a name of its own has its own bounds: they are not repeated. */
export function boundsIn(node: SchemaNode, path: string): Bound[] {
  return [...ownBounds(node, path), ...innerBounds(node, path)];
}

function innerBounds(node: SchemaNode, path: string): Bound[] {
  const inner = (child: SchemaNode, at: string): Bound[] =>
    child.title === undefined ? boundsIn(child, at) : [];
  const dot = path === "" ? "" : ".";
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, child]) => inner(child, `${path}${dot}${name}`)),
    ...(node.items === undefined ? [] : inner(node.items, `${path}[]`)),
    ...(node.propertyNames === undefined ? [] : inner(node.propertyNames, `${path}${dot}<name>`)),
    ...(node.additionalProperties === undefined
      ? []
      : inner(node.additionalProperties, `${path}${dot}<name>`)),
  ];
}

function ownBounds(node: SchemaNode, path: string): Bound[] {
  const { maxItems, maxProperties, maxLength, maximum } = node;
  const bounds = [
    ["items", maxItems],
    ["names", maxProperties],
    ["characters", maxLength],
    // What cannot be counted beyond it is no choice of ours.
    ["number", maximum === Number.MAX_SAFE_INTEGER || maxLength !== undefined ? undefined : maximum],
  ] as const;
  return bounds.flatMap(([kind, most]) => (most === undefined ? [] : [{ path, node, kind, most }]));
}

/** Every schema that crosses a boundary, by name. */
export function boundedSchemas(): readonly (readonly [string, SchemaNode])[] {
  return [
    ...NAMED.map((node) => [(node.title ?? "").replace(/DTO$/, ""), node] as const),
    ...KINDS.flatMap(({ kind, spec, status }: Kind<unknown, unknown>) => [
      [`${kind} spec`, spec] as const,
      [`${kind} status`, status] as const,
    ]),
  ];
}

const COUNT = new Intl.NumberFormat("en");

/** docs/reference/limits.md: every bound that a schema states. */
export function limitsReference(): string {
  const rows = boundedSchemas().flatMap(([name, node]) =>
    boundsIn(node, "").map(({ path, kind, most }) => `| ${name} | \`${path}\` | ${mostText(kind, most)} |`),
  );
  return [
    GENERATED,
    "# Bounds of requests, replies and objects",
    "",
    "What is beyond a bound is refused: by the broker with `400 invalid`, or `413 too-large` for a body, by an API server with `422`; the answer names the field",
    "and the bound. What a program of ours makes of too much before it sends it is in [limits.md](../limits.md).",
    "",
    `A body has at most ${LIMIT.bodyBytes / 1024} KiB, an advertisement ${LIMIT.advertisementBodyBytes / 1024} KiB, ${COUNT.format(LIMIT.jsonKeys)} values and ${LIMIT.jsonDepth} levels; a page ${LIMIT.pageMax} items, ${LIMIT.pageDefault} unless asked otherwise.`,
    "",
    "| Of | Field | Most |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function mostText(kind: Bound["kind"], most: number): string {
  const count = COUNT.format(most);
  return kind === "number" ? count : `${count} ${kind}`;
}
