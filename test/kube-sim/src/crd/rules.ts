import { Environment } from "@marcbachmann/cel-js";
import { compareQuantities, parseQuantity, type Quantity } from "@resource-broker/base";
import { duplicate, forbidden, invalid, required } from "../api/causes.ts";
import type { Cause } from "../api/cluster-api.ts";
import { isList, isObject, isSame, type JsonObject, type JsonValue } from "../json.ts";
import { type Rule, type Schema, schemaOfField } from "./schema.ts";
import { type InnerSubject, innerSubjects, type Subject } from "./validate.ts";

/** Kubernetes' quantities in CEL, which the library does not have. */
class CelQuantity {
  readonly quantity: Quantity;
  constructor(text: string) {
    const parsed = parseQuantity(text);
    if (!parsed.ok) throw new TypeError(parsed.problem);
    this.quantity = parsed.quantity;
  }
}

function compare(a: CelQuantity, b: CelQuantity): number {
  return compareQuantities(a.quantity, b.quantity);
}

const environment = new Environment({ homogeneousAggregateLiterals: false })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn")
  .registerType("Quantity", CelQuantity)
  .registerFunction("isQuantity(string): bool", (text: string) => parseQuantity(text).ok)
  .registerFunction("quantity(string): Quantity", (text: string) => new CelQuantity(text))
  .registerFunction(
    "Quantity.isGreaterThan(Quantity): bool",
    (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0,
  )
  .registerFunction(
    "Quantity.isLessThan(Quantity): bool",
    (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0,
  )
  .registerFunction("Quantity.compareTo(Quantity): int", (a: CelQuantity, b: CelQuantity) =>
    BigInt(compare(a, b)),
  );

const programs = new Map<string, ReturnType<Environment["parse"]>>();

/** Throws for a rule that cannot be read or that calls what is not there. */
function programOf(rule: string): ReturnType<Environment["parse"]> {
  const known = programs.get(rule) ?? environment.parse(rule);
  programs.set(rule, known);
  return known;
}

/** What is wrong with the rules of a schema themselves. */
export function ruleProblems(schema: Schema): readonly string[] {
  if (!schema.has.rules) return [];
  const own = schema.rules.flatMap(({ rule }) => {
    const { valid, error } = environment.check(rule);
    return valid ? [] : [`the rule ${rule} does not compile: ${error?.message ?? ""}`];
  });
  const inner = [...schema.properties.values(), schema.items, schema.additional];
  return [...own, ...inner.flatMap((part) => (part === undefined ? [] : ruleProblems(part)))];
}

export interface RuleFindings {
  readonly causes: Cause[];
  readonly warnings: string[];
}

/** Runs the rules of a place and of everything below it. */
export function runRules(schema: Schema, subject: Subject, findings: RuleFindings): void {
  if (!schema.has.rules || subject.value === null) return;
  for (const rule of schema.rules) runRule(rule, { ...subject, schema }, findings);
  for (const inner of innerSubjects(schema, subject, (name) => `[${name}]`))
    runRules(inner.schema, inner, findings);
}

/** What was wrong before and did not change is a warning. */
function runRule(rule: Rule, place: InnerSubject, { causes, warnings }: RuleFindings): void {
  const { schema, value, old = null, path } = place;
  const usesOld = /\boldSelf\b/u.test(rule.rule);
  if (usesOld && old === null) return;
  const outcome = outcomeOf(rule, { self: celValue(schema, value), oldSelf: celValue(schema, old) });
  if (outcome === true) return;
  if (outcome !== false) {
    const detail = `${outcome} evaluating rule: ${rule.message || rule.rule}`;
    causes.push(invalid(path || "<nil>", schema.type, detail));
    return;
  }
  const cause = brokenCause(rule, place);
  if (!usesOld && isSame(value, old)) warnings.push(`${cause.field}: ${cause.message}`);
  else causes.push(cause);
}

/** A text: why the rule cannot be evaluated. */
function outcomeOf({ rule }: Rule, variables: Readonly<Record<string, unknown>>): boolean | string {
  try {
    const result: unknown = programOf(rule)(variables);
    return typeof result === "boolean" ? result : "the result is no boolean";
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
  }
}

function brokenCause({ rule, message, reason, fieldPath }: Rule, place: InnerSubject): Cause {
  const { path, schema, value } = place;
  const field = `${path}${fieldPath}`.replace(/^\./u, "") || "<nil>";
  const shown = schema.type === "object" || schema.type === "array" ? undefined : value;
  const detail = message === "" ? `failed rule: ${rule.trim()}` : message.trim();
  switch (reason) {
    case "FieldValueForbidden":
      return forbidden(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, shown);
    default:
      return invalid(field, shown, detail);
  }
}

/** A value as rules see it: whole numbers are ints, times are timestamps. */
function celValue(schema: Schema | undefined, value: JsonValue): unknown {
  if (isList(value)) return value.map((item) => celValue(schema?.items, item));
  if (isObject(value)) return celMap(schema, value);
  if (typeof value === "number")
    return Number.isInteger(value) && schema?.type !== "number" ? BigInt(value) : value;
  return typeof value === "string" && schema?.format === "date-time" ? new Date(value) : value;
}

function celMap(schema: Schema | undefined, value: JsonObject): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const known = schema === undefined ? undefined : schemaOfField(schema, name);
      const shown = schema?.properties.has(name) === true && RESERVED.test(name) ? `__${name}__` : name;
      return field === undefined ? [] : [[shown, celValue(known, field)]];
    }),
  );
}

/** Fields that are called like a word of CEL have another name in rules. */
const RESERVED =
  /^(?:true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)$/u;
