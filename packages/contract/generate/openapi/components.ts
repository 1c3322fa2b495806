import * as policy from "../../src/policy/policy-schema.ts";
import type { SchemaNode } from "../../src/schema/node.ts";
import * as admin from "../../src/wire/admin.ts";
import * as adoption from "../../src/wire/adoption.ts";
import * as advertisement from "../../src/wire/advertisement.ts";
import * as amounts from "../../src/wire/amounts.ts";
import * as cost from "../../src/wire/cost.ts";
import * as decision from "../../src/wire/decision.ts";
import * as demand from "../../src/wire/demand.ts";
import * as error from "../../src/wire/error.ts";
import * as insight from "../../src/wire/insight.ts";
import * as instructions from "../../src/wire/instructions.ts";
import * as join from "../../src/wire/join.ts";
import * as quantities from "../../src/wire/quantities.ts";
import * as reservation from "../../src/wire/reservation.ts";
import * as reservationRequest from "../../src/wire/reservation-request.ts";

import * as statement from "../../src/wire/statement.ts";
import * as tenant from "../../src/wire/tenant.ts";
import * as waiting from "../../src/wire/waiting.ts";

const EXPORTS: readonly object[] = [
  policy,
  admin,
  adoption,
  advertisement,
  amounts,
  cost,
  decision,
  demand,
  error,
  insight,
  instructions,
  join,
  quantities,
  reservation,
  reservationRequest,
  statement,
  tenant,
  waiting,
];

/** Every schema with a name. */
export const NAMED: readonly SchemaNode[] = EXPORTS.flatMap((module): unknown[] => Object.values(module))
  .filter(isNamed)
  .toSorted((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));

function isNamed(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && "title" in value && "type" in value;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Every named schema, with references between them instead of copies. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(NAMED.map((schema) => [titleOf(schema), render(schema)]));
}

export function reference(schema: SchemaNode): JsonSchema {
  const title = titleOf(schema);
  if (!NAMED.some((named) => named.title === title)) throw new Error(`${title} is missing in components.ts`);
  return { $ref: `#/components/schemas/${title}` };
}

/** A schema inside another one: a reference if it has a name. */
function renderInner(node: SchemaNode): JsonSchema {
  if (node.title === undefined) return render(node);
  return { ...reference(node), ...pickText(node) };
}

/** Our own `x-` keywords are for our own programs: readers of the document have the description. */
function render(node: SchemaNode): JsonSchema {
  const { properties, items, additionalProperties, propertyNames, title: _, ...rest } = node;
  const own = Object.entries(rest).filter(([keyword]) => !keyword.startsWith("x-"));
  return {
    ...Object.fromEntries(own),
    ...(node["x-null-is-empty"] === true ? { type: ["array", "null"] } : {}),
    ...(properties === undefined ? {} : { properties: mapNodes(properties) }),
    ...(items === undefined ? {} : { items: renderInner(items) }),
    ...(propertyNames === undefined ? {} : { propertyNames: render(propertyNames) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: renderInner(additionalProperties) }),
  };
}

function mapNodes(nodes: Readonly<Record<string, SchemaNode>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, renderInner(node)]));
}

function pickText({ description, examples }: SchemaNode): JsonSchema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  };
}

function titleOf(schema: SchemaNode): string {
  if (schema.title === undefined) throw new Error("only a schema with a title can be referred to");
  return schema.title;
}
