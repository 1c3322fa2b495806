import { isList, isObject } from "../../core/look.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { type Shape, shapeOf } from "../cel/shape.ts";
import { type Correlation, correlatedEntry, correlatedField, correlatedItem } from "../correlation.ts";
import { fieldPath } from "../list-types.ts";
import type { Schema } from "../schema.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";
import type { RuleFindings } from "./rule-place.ts";
import { runRule } from "./run-rule.ts";

/** A value, the one it replaces, and where it is. */
export interface Judged {
  readonly value: JsonValue;
  readonly old: JsonValue | undefined;
  readonly path: string;
  readonly correlation: Correlation | undefined;
}

/** Runs the rules of a place and of everything below it. */
export type RunRules = (judged: Judged, findings: RuleFindings) => void;

/**
 * Makes a function of all rules of a schema; undefined when it has none. The definition has been admitted, so every
 * rule compiles: one that does not is a mistake of the caller.
 */
export function compileRules(schema: Schema, isResource = true): RunRules | undefined {
  const rules = rulesOf(schema, isResource);
  const inner = innerRules(schema);
  if (rules === undefined) return inner;
  return (judged, findings) => {
    if (judged.value === null) return;
    const self = rules.shape.read(judged.value);
    const place = { ...judged, schema, shape: rules.shape, self };
    for (const rule of rules.compiled) runRule(rule, place, findings);
    inner?.(judged, findings);
  };
}

function rulesOf(
  schema: Schema,
  isResource: boolean,
): { shape: Shape; compiled: CompiledRule[] } | undefined {
  if (schema.rules.length === 0) return undefined;
  const shape = shapeOf(schema, isResource);
  if (shape === undefined) throw new TypeError("a rule stands where the schema does not say what is there");
  const compiled = schema.rules.map((rule) => {
    const result = compileRule(rule, shape, schema);
    if (!result.ok) throw new TypeError(`a rule was not checked before it is used: ${result.problem}`);
    return result.compiled;
  });
  return { shape, compiled };
}

function innerRules(schema: Schema): RunRules | undefined {
  const { items, additional } = schema;
  const ofItems = items === undefined ? undefined : compileRules(items, items.isEmbedded);
  const ofValues =
    typeof additional === "object" ? compileRules(additional, additional.isEmbedded) : undefined;
  const ofFields = new Map<string, RunRules>();
  for (const [name, field] of schema.properties) {
    const rules = compileRules(field, field.isEmbedded);
    if (rules !== undefined) ofFields.set(name, rules);
  }
  if (ofItems === undefined && ofValues === undefined && ofFields.size === 0) return undefined;
  const fields = fieldRunner(schema, ofFields, ofValues);
  return (judged, findings) => {
    if (isList(judged.value)) runItems({ schema, ofItems, judged }, judged.value, findings);
    else if (isObject(judged.value)) fields(judged.value, judged, findings);
  };
}

function runItems(
  { schema, ofItems, judged }: { schema: Schema; ofItems: RunRules | undefined; judged: Judged },
  value: readonly JsonValue[],
  findings: RuleFindings,
): void {
  if (ofItems === undefined) return;
  const { path, old, correlation } = judged;
  for (const [index, item] of value.entries()) {
    const place = {
      value: item,
      old: correlatedItem(schema, item, old),
      path: `${path}[${index}]`,
      correlation: correlatedEntry(schema, correlation, item),
    };
    ofItems(place, findings);
  }
}

function fieldRunner(
  schema: Schema,
  ofFields: ReadonlyMap<string, RunRules>,
  ofValues: RunRules | undefined,
) {
  return (value: JsonObject, { path, old, correlation }: Judged, findings: RuleFindings): void => {
    const before = isObject(old) ? old : undefined;
    for (const name of Object.keys(value)) {
      const field = value[name];
      const rules = ofFields.get(name) ?? (schema.properties.has(name) ? undefined : ofValues);
      if (field === undefined || rules === undefined) continue;
      const place = {
        value: field,
        old: before?.[name],
        path: fieldPath(schema, path, name),
        correlation: correlatedField(schema, correlation, name),
      };
      rules(place, findings);
    }
  };
}
