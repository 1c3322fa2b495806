import { isList, isObject } from "../../core/look.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { invalid, required } from "../causes.ts";
import { correlatedItem, isUnchanged } from "../correlation.ts";
import type { Schema } from "../schema.ts";
import { alternativesCheck } from "./alternatives.ts";
import { enumCheck, sizeCheck, stringCheck, stringFormatCheck, typeCheck } from "./checks.ts";
import { numberCheck } from "./numbers.ts";
import { add, type Check, type Outcome, type Subject, type Validate } from "./outcome.ts";

/**
 * Makes a function of a schema. Problems of a value that did not change are dropped: otherwise a definition that
 * became stricter would lock every object made before.
 */
export function compileSchema(schema: Schema): Validate {
  const checks = ownChecks(schema);
  const ofNull = [typeCheck(schema), enumCheck(schema.enum)].filter((check) => check !== undefined);
  const inner = innerOf(schema);
  return (subject, outcome) => {
    const { value, path, old } = subject;
    const before = outcome.problems.length;
    const applied = value === null ? ofNull : checks;
    for (const check of applied) check(value, path, outcome);
    outcome.matches += applied.length;
    inner?.(subject, outcome);
    const hasProblems = outcome.problems.length > before;
    if (hasProblems && old !== undefined && isUnchanged(schema, value, old)) outcome.problems.length = before;
  };
}

function ownChecks(schema: Schema): readonly Check[] {
  const { limits } = schema;
  const checks = [
    typeCheck(schema),
    alternativesCheck(schema, compileSchema),
    stringCheck(limits),
    stringFormatCheck(schema),
    numberCheck(schema),
    enumCheck(schema.enum),
    sizeCheck(limits, "items"),
    sizeCheck(limits, "properties"),
  ];
  return checks.filter((check) => check !== undefined);
}

function innerOf(schema: Schema): Validate | undefined {
  const fields = fieldsOf(schema);
  const items = itemsOf(schema);
  if (fields === undefined && items === undefined) return undefined;
  return (subject, outcome) => {
    if (isObject(subject.value)) fields?.(subject.value, subject, outcome);
    else if (isList(subject.value)) items?.(subject.value, subject, outcome);
  };
}

function itemsOf(schema: Schema) {
  if (schema.items === undefined) return undefined;
  const validate = compileSchema(schema.items);
  return (value: readonly JsonValue[], { path, old }: Subject, outcome: Outcome): void => {
    for (const [index, item] of value.entries()) {
      validate({ value: item, path: `${path}[${index}]`, old: correlatedItem(schema, item, old) }, outcome);
    }
  };
}

function fieldsOf(schema: Schema) {
  const properties = new Map(
    [...schema.properties].map(([name, field]) => [name, compileSchema(field)] as const),
  );
  const additional = typeof schema.additional === "object" ? compileSchema(schema.additional) : undefined;
  const isClosed = schema.additional === false;
  if (properties.size === 0 && additional === undefined && schema.required.length === 0 && !isClosed)
    return undefined;
  return (value: JsonObject, { path, old }: Subject, outcome: Outcome): void => {
    const before = isObject(old) ? old : {};
    for (const name of Object.keys(value)) {
      const field = value[name];
      if (field === undefined) continue;
      const validate = properties.get(name);
      const subject = { value: field, path: pathOf(path, name, validate === undefined), old: before[name] };
      if (validate !== undefined) validate(subject, outcome);
      else if (additional !== undefined) additional(subject, outcome);
      else if (isClosed) forbiddenField(path, name, outcome);
    }
    for (const name of schema.required) if (value[name] === undefined) missingField(path, name, outcome);
  };
}

/** Kubernetes puts the dot in front of the keys of a map at the root, too. */
function pathOf(path: string, name: string, isKey: boolean): string {
  return path === "" && !isKey ? name : `${path}.${name}`;
}

function missingField(path: string, name: string, outcome: Outcome): void {
  const place = `${path}.${name}`;
  add(outcome, { text: `${place} in body is required`, cause: (field) => required(field(place)) });
}

function forbiddenField(path: string, name: string, outcome: Outcome): void {
  const text = `${path}.${name} in body is a forbidden property`;
  add(outcome, { text, cause: (field) => invalid(field(path), name, text) });
}
