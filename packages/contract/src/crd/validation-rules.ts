import type { SchemaNode, Sign } from "../schema/node.ts";
import { FORMAT } from "../schema/terms.ts";

/** One entry of `x-kubernetes-validations`. */
export interface ValidationRule {
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

/** CEL rules for one field: what the CRD schema cannot express, or not with a readable message. */
export function fieldRules(node: SchemaNode): ValidationRule[] {
  if (node.propertyNames !== undefined) return [nameRule(node.propertyNames)];
  if (node.format === FORMAT.quantity) return [quantityRule(node)];
  if (node.format === FORMAT.duration) return [durationRule(node)];
  if (node.format === FORMAT.clusterId) return [formRule(node)];
  return [];
}

/** Fields that identify an object. An optional one may not appear or vanish either, so its rule sits on the parent. */
export function lockRules({ properties = {}, required = [] }: SchemaNode): ValidationRule[] {
  return Object.entries(properties).flatMap(([name, { "x-lock": lock }]) => {
    if (lock === undefined) return [];
    if (required.includes(name)) return [{ rule: `self.${name} == oldSelf.${name}`, ...locked(name) }];
    const isSame = `has(self.${name}) && self.${name} == oldSelf.${name}`;
    const otherwise = lock === "set-once" ? "true" : `!has(self.${name})`;
    return [{ rule: `has(oldSelf.${name}) ? ${isSame} : ${otherwise}`, ...locked(name) }];
  });
}

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

function examplesOf(node: SchemaNode, otherwise: string): string {
  return node.examples === undefined ? otherwise : node.examples.map(String).join(" or ");
}

/** A CEL text that reads backslashes as they stand. */
function quoted(pattern: string): string {
  return `r'${pattern}'`;
}
