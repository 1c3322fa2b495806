import type { Cause } from "../../api/definition.ts";
import { isObject } from "../../core/look.ts";
import type { JsonObject } from "../../json.ts";
import { invalid, notSupported, required } from "../causes.ts";
import { shapeOf } from "../cel/shape.ts";
import { readFieldPath } from "../field-path.ts";
import { jsonText } from "../go-text.ts";
import { compileRule } from "../rules/compile-rule.ts";
import { objects, type Rule, readSchema, type Schema, text } from "../schema.ts";
import { allNodes, innerNodes, type SchemaNode } from "./schema-walk.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** What is wrong with the words of rules, before they are compiled. */
export function ruleTextCauses(root: SchemaNode): Cause[] {
  return allNodes(root).flatMap(({ raw, path }) => {
    const schema = readSchema(raw);
    return schema.rules.flatMap((rule, index) =>
      textCauses(rule, schema, `${path}.x-kubernetes-validations[${index}]`),
    );
  });
}

/** Compiles every rule, and tells why one cannot be. */
export function ruleCauses(root: SchemaNode): Cause[] {
  return walk(root, undefined);
}

function textCauses(rule: Rule, schema: Schema, path: string): Cause[] {
  const causes = messageCauses(rule, path);
  if (rule.messageExpression !== "" && rule.messageExpression.trim() === "") {
    causes.push(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (rule.reason !== "" && !REASONS.includes(rule.reason)) {
    causes.push(notSupported(`${path}.reason`, rule.reason, REASONS));
  }
  if (rule.fieldPath !== "" && !readFieldPath(rule.fieldPath, schema).ok) {
    causes.push(invalid(`${path}.fieldPath`, rule.fieldPath, "must be a valid path"));
  }
  return causes;
}

function messageCauses({ rule, message }: Rule, path: string): Cause[] {
  const trimmed = message.trim();
  if (rule.trim() === "") return [required(`${path}.rule`, "rule is not specified")];
  if (message !== "" && trimmed === "")
    return [invalid(`${path}.message`, message, "must be non-empty if specified")];
  if (hasNewlines(trimmed)) return [invalid(`${path}.message`, message, "must not contain line breaks")];
  if (!hasNewlines(rule.trim()) || trimmed !== "") return [];
  return [required(`${path}.message`, "message must be specified if rule contains line breaks")];
}

function hasNewlines(line: string): boolean {
  return /[\n\r]/.test(line);
}

/** `lost` is where the way from a new value to its old one got lost. */
function walk(node: SchemaNode, lost: string | undefined): Cause[] {
  const isList = isObject(node.raw["items"]) && node.raw["x-kubernetes-list-type"] !== "map";
  const inner = innerNodes(node).flatMap((child) =>
    walk(child, child.level === "item" && isList ? (lost ?? node.path) : lost),
  );
  return [...compileCauses(node, lost), ...inner];
}

function compileCauses({ raw, path, level }: SchemaNode, lost: string | undefined): Cause[] {
  const rules = objects(raw["x-kubernetes-validations"]);
  if (rules.length === 0) return [];
  const schema = readSchema(raw);
  const shape = shapeOf(schema, level === "root" || schema.isEmbedded);
  const place = `${path}.x-kubernetes-validations`;
  if (shape === undefined) {
    return [
      invalid(place, text(raw["type"]), "rules cannot be used where the schema does not say what is there"),
    ];
  }
  return schema.rules.flatMap((rule, index) => {
    const result = compileRule(rule, shape, schema);
    const here = `${place}[${index}]`;
    if (!result.ok) return [wrongRule(`${here}.${result.part}`, rules[index] ?? {}, result.problem)];
    return oldSelfCauses(rule, { usesOldSelf: result.compiled.program.usesOldSelf, lost, here });
  });
}

function oldSelfCauses(
  rule: Rule,
  { usesOldSelf, lost, here }: { usesOldSelf: boolean; lost: string | undefined; here: string },
): Cause[] {
  if (usesOldSelf && lost !== undefined) {
    const says = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${lost}`;
    return [invalid(`${here}.rule`, rule.rule, says)];
  }
  if (usesOldSelf || rule.optionalOldSelf === undefined) return [];
  return [
    invalid(`${here}.optionalOldSelf`, rule.optionalOldSelf, "may not be set if oldSelf is not used in rule"),
  ];
}

/** As Kubernetes shows a rule: by the names, and in the order, of its own type. */
function wrongRule(field: string, raw: JsonObject, problem: string): Cause {
  const shown = [
    ["Rule", text(raw["rule"])],
    ["Message", text(raw["message"])],
    ["MessageExpression", text(raw["messageExpression"])],
    ["Reason", raw["reason"] ?? null],
    ["FieldPath", text(raw["fieldPath"])],
    ["OptionalOldSelf", raw["optionalOldSelf"] ?? null],
  ] as const;
  const json = shown.map(([name, value]) => `"${name}":${jsonText(value)}`).join(",");
  return { reason: "FieldValueInvalid", field, message: `Invalid value: {${json}}: ${problem}` };
}
