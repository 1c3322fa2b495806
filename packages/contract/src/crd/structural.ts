import type { SchemaNode, Sign } from "../schema/node.ts";
import { examplesOf } from "../schema/problem.ts";
import { FORMAT } from "../schema/terms.ts";

/** One entry of `x-kubernetes-validations`. */
interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

// An int-or-string field is either to CEL: `string(self)` makes both the text that isQuantity reads.
const QUANTITY = "isQuantity(string(self))";
const SIGN_RULES: Readonly<Record<Sign, string>> = {
  any: QUANTITY,
  "non-negative": `${QUANTITY} && !quantity(string(self)).isLessThan(quantity('0'))`,
  positive: `${QUANTITY} && quantity(string(self)).isGreaterThan(quantity('0'))`,
};
const SIGN_WORDS: Readonly<Record<Sign, string>> = {
  any: "must be a quantity",
  "non-negative": "must be a quantity that is not negative",
  positive: "must be a quantity of more than 0",
};

/** Keywords that mean the same in both forms. */
type SharedKeyword = Extract<keyof SchemaNode, `${"min" | "max"}${string}`> | "required" | "enum" | "pattern";

/** A schema as Kubernetes wants it in a CustomResourceDefinition. */
export interface StructuralSchema extends Pick<SchemaNode, SharedKeyword | "description" | "format"> {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly exclusiveMinimum?: boolean;
  readonly anyOf?: readonly { readonly type: string }[];
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

const INT32_MAX = 2_147_483_647;

/**
 * Renders a schema in the structural form of CRDs. Inside lists and maps the forms of texts are checked by patterns:
 * a CEL rule would be charged once for each possible item and exceed Kubernetes' budget.
 */
export function structural(node: SchemaNode, isInCollection = false): StructuralSchema {
  const rules = isInCollection ? [] : [...fieldRules(node), ...lockRules(node)];
  return {
    ...(node.description === undefined ? {} : { description: describe(node) }),
    ...shapeOf(node, isInCollection),
    ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules }),
  };
}

function shapeOf(node: SchemaNode, isInCollection: boolean): StructuralSchema {
  if (node.properties !== undefined) return objectShape(node, node.properties, isInCollection);
  if (node.additionalProperties !== undefined) return mapShape(node, node.additionalProperties);
  if (node.items !== undefined) return listShape(node, node.items);
  if (node.format === FORMAT.quantity) return quantityShape(node, isInCollection);
  if (node.format === FORMAT.time) return { type: "string", format: "date-time" };
  if (node.type === "boolean") return { type: "boolean" };
  if (node.type === "integer" || node.type === "number") return numberShape(node, node.type);
  return textShape(node, isInCollection);
}

function objectShape(
  node: SchemaNode,
  properties: Readonly<Record<string, SchemaNode>>,
  isInCollection: boolean,
): StructuralSchema {
  const fields = Object.entries(properties).map(
    ([name, child]) => [name, structural(child, isInCollection)] as const,
  );
  return {
    type: "object",
    ...pick(node, ["required", "minProperties"]),
    properties: Object.fromEntries(fields),
  };
}

function mapShape(node: SchemaNode, values: SchemaNode): StructuralSchema {
  return {
    type: "object",
    ...pick(node, ["maxProperties"]),
    additionalProperties: { description: "The value of one entry.", ...structural(values, true) },
  };
}

function listShape(node: SchemaNode, items: SchemaNode): StructuralSchema {
  const keys = node["x-list-keys"];
  return {
    type: "array",
    ...pick(node, ["minItems", "maxItems"]),
    "x-kubernetes-list-type": keys === undefined ? "atomic" : "map",
    ...(keys === undefined ? {} : { "x-kubernetes-list-map-keys": keys }),
    items: { description: "One item.", ...structural(items, true) },
  };
}

function quantityShape(node: SchemaNode, isInCollection: boolean): StructuralSchema {
  return {
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "integer" }, { type: "string" }],
    ...pick(node, ["maxLength"]),
    // For numbers and for texts; elsewhere a CEL rule says the same in words.
    ...(isInCollection ? pick(node, ["minimum", "pattern"]) : {}),
  };
}

function numberShape(node: SchemaNode, type: "integer" | "number"): StructuralSchema {
  const { minimum = 0, maximum = Number.POSITIVE_INFINITY, exclusiveMinimum } = node;
  const isInt32 = minimum >= -INT32_MAX && maximum <= INT32_MAX;
  return {
    type,
    ...(type === "integer" ? { format: isInt32 ? "int32" : "int64" } : {}),
    ...pick(node, ["minimum", "maximum"]),
    ...(exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true }),
  };
}

function textShape(node: SchemaNode, isInCollection: boolean): StructuralSchema {
  const isCheckedByRule = !isInCollection && fieldRules(node).length > 0;
  return {
    type: "string",
    ...pick(node, ["enum", "minLength", "maxLength"]),
    ...(isCheckedByRule ? {} : pick(node, ["pattern"])),
  };
}

/** Those keywords that the node has. */
function pick<K extends SharedKeyword>(
  node: SchemaNode,
  keywords: readonly K[],
): Partial<Pick<SchemaNode, K>> {
  const picked: Partial<Pick<SchemaNode, K>> = {};
  for (const keyword of keywords) if (node[keyword] !== undefined) picked[keyword] = node[keyword];
  return picked;
}

function describe({ description = "", examples = [] }: SchemaNode): string {
  const simple = examples.filter((example) => typeof example !== "object").map(String);
  return simple.length === 0 ? description : `${description} For example: ${simple.join(" or ")}.`;
}

/** CEL rules for one field: what the CRD schema cannot express, or not with a readable message. */
function fieldRules(node: SchemaNode): ValidationRule[] {
  if (node.propertyNames !== undefined) return [nameRule(node.propertyNames)];
  if (node.format === FORMAT.quantity) return [quantityRule(node)];
  if (node.format === FORMAT.duration) return [durationRule(node)];
  if (node.format === FORMAT.clusterId) return [formRule(node)];
  return [];
}

/** Fields that identify an object. An optional one may not appear or vanish either, so its rule sits on the parent. */
function lockRules({ properties = {}, required = [] }: SchemaNode): ValidationRule[] {
  return Object.entries(properties).flatMap(([name, { "x-lock": lock }]) => {
    if (lock === undefined) return [];
    const field = celName(name);
    if (required.includes(name)) return [{ rule: `self.${field} == oldSelf.${field}`, ...locked(name) }];
    const isSame = `has(self.${field}) && self.${field} == oldSelf.${field}`;
    const otherwise = lock === "set-once" ? "true" : `!has(self.${field})`;
    return [{ rule: `has(oldSelf.${field}) ? ${isSame} : ${otherwise}`, ...locked(name) }];
  });
}

/** CEL reserves some words; Kubernetes has another name for fields that are called so. */
function celName(name: string): string {
  return CEL_RESERVED.test(name) ? `__${name}__` : name;
}

const CEL_RESERVED =
  /^(?:true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)$/;

/** CRDs cannot constrain the names of a map otherwise. */
function nameRule({ pattern = "", "x-expects": expects }: SchemaNode): ValidationRule {
  return {
    rule: `self.all(name, name.matches(${quoted(pattern)}))`,
    message: `every name must be ${expects}`,
  };
}

function formRule({ pattern = "", "x-expects": expects }: SchemaNode): ValidationRule {
  return { rule: `self.matches(${quoted(pattern)})`, message: `must be ${expects}` };
}

function quantityRule(node: SchemaNode): ValidationRule {
  if (node["x-whole"] === true) {
    const rule = `string(self).matches(${quoted(node.pattern ?? "")})`;
    return {
      rule,
      message: `must be a whole number that is not negative, for example ${examplesOf(node, "1")}`,
    };
  }
  const sign = node["x-sign"] ?? "any";
  return {
    rule: SIGN_RULES[sign],
    message: `${SIGN_WORDS[sign]}, for example ${examplesOf(node, "500m or 8Gi")}`,
  };
}

function durationRule(node: SchemaNode): ValidationRule {
  const isDuration = `self.matches(${quoted(node.pattern ?? "")})`;
  const words = node["x-sign"] === "positive" ? "must be a duration of more than 0" : "must be a duration";
  return { rule: isDuration, message: `${words}, for example ${examplesOf(node, "1h30m")}` };
}

function locked(name: string): Pick<ValidationRule, "message" | "fieldPath"> {
  return { message: `${name} cannot be changed: create another object instead`, fieldPath: `.${name}` };
}

/** A CEL text that reads backslashes as they stand. */
function quoted(pattern: string): string {
  return `r'${pattern}'`;
}
