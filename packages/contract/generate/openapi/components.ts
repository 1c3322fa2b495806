import { policySchema, quotaSchema } from "../../src/policy/policy-schema.ts";
import type { SchemaNode } from "../../src/schema/node.ts";
import {
  adoptionOpeningSchema,
  adoptionWindowSchema,
  advertisementPageSchema,
  auditEntrySchema,
  auditPageSchema,
  cordonReplySchema,
  cordonRequestSchema,
  dashboardLinkRequestSchema,
  dashboardLinkSchema,
  policyReplySchema,
} from "../../src/wire/admin.ts";
import { adoptionReplySchema, adoptionRequestSchema } from "../../src/wire/adoption.ts";
import { advertisementReplySchema, advertisementSchema } from "../../src/wire/advertisement.ts";
import { costSchema, reservationCostSchema } from "../../src/wire/cost.ts";
import { decisionSchema, quoteSchema } from "../../src/wire/decision.ts";
import { errorSchema, refusalSchema } from "../../src/wire/error.ts";
import { acknowledgementSchema, capacityEventSchema, resetEventSchema } from "../../src/wire/instructions.ts";
import {
  requestedQuantitiesSchema,
  resourceQuantitiesSchema,
  resourcesSchema,
  shownQuantitiesSchema,
  someQuantitiesSchema,
} from "../../src/wire/quantities.ts";
import { reservationListSchema, reservationSchema } from "../../src/wire/reservation.ts";
import { renewRequestSchema, reservationRequestSchema } from "../../src/wire/reservation-request.ts";

export const NAMED: readonly SchemaNode[] = [
  acknowledgementSchema,
  adoptionOpeningSchema,
  adoptionReplySchema,
  adoptionRequestSchema,
  adoptionWindowSchema,
  advertisementPageSchema,
  advertisementReplySchema,
  advertisementSchema,
  auditEntrySchema,
  auditPageSchema,
  capacityEventSchema,
  cordonReplySchema,
  cordonRequestSchema,
  costSchema,
  dashboardLinkRequestSchema,
  dashboardLinkSchema,
  decisionSchema,
  errorSchema,
  policyReplySchema,
  policySchema,
  quotaSchema,
  quoteSchema,
  refusalSchema,
  renewRequestSchema,
  requestedQuantitiesSchema,
  reservationCostSchema,
  reservationListSchema,
  reservationRequestSchema,
  reservationSchema,
  resetEventSchema,
  resourceQuantitiesSchema,
  resourcesSchema,
  shownQuantitiesSchema,
  someQuantitiesSchema,
];

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
