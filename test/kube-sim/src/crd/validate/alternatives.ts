import type { JsonValue } from "../../json.ts";
import type { Schema } from "../schema.ts";
import { addUnplaced, type Check, merge, newOutcome, type Outcome, type Validate } from "./outcome.ts";

/** `anyOf`, `oneOf`, `allOf` and `not`. Their problems name the field in the text and not as the field. */
export function alternativesCheck(schema: Schema, compile: (schema: Schema) => Validate): Check | undefined {
  const checks: Check[] = [];
  if (schema.anyOf.length > 0) checks.push(anyOfCheck(schema.anyOf.map(compile)));
  if (schema.oneOf.length > 0) checks.push(oneOfCheck(schema.oneOf.map(compile)));
  if (schema.allOf.length > 0) checks.push(allOfCheck(schema.allOf.map(compile)));
  if (schema.not !== undefined) checks.push(notCheck(compile(schema.not)));
  if (checks.length === 0) return undefined;
  return (value, path, outcome) => {
    for (const check of checks) check(value, path, outcome);
  };
}

function anyOfCheck(alternatives: readonly Validate[]): Check {
  return (value, path, outcome) => {
    let closest: Outcome | undefined;
    for (const validate of alternatives) {
      const found = tried(validate, value, path);
      if (found.problems.length === 0) {
        outcome.matches += found.matches;
        return;
      }
      if (closest === undefined || found.matches > closest.matches) closest = found;
    }
    addUnplaced(outcome, `"${path}" must validate at least one schema (anyOf)`);
    if (closest !== undefined) merge(outcome, closest);
  };
}

function oneOfCheck(alternatives: readonly Validate[]): Check {
  return (value, path, outcome) => {
    const found = alternatives.map((validate) => tried(validate, value, path));
    const valid = found.filter(({ problems }) => problems.length === 0);
    const [only] = valid;
    if (only !== undefined && valid.length === 1) {
      outcome.matches += only.matches;
      return;
    }
    const count = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
    addUnplaced(outcome, `"${path}" must validate one and only one schema (oneOf). ${count}`);
    const most = Math.max(...found.map(({ matches }) => matches));
    const closest = found.find(({ matches }) => matches === most);
    if (valid.length === 0 && closest !== undefined) merge(outcome, closest);
  };
}

function allOfCheck(parts: readonly Validate[]): Check {
  return (value, path, outcome) => {
    let valid = 0;
    for (const validate of parts) {
      const found = tried(validate, value, path);
      if (found.problems.length === 0) valid++;
      merge(outcome, found);
    }
    if (valid === parts.length) return;
    addUnplaced(
      outcome,
      `"${path}" must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`,
    );
  };
}

function notCheck(validate: Validate): Check {
  return (value, path, outcome) => {
    if (tried(validate, value, path).problems.length === 0) {
      addUnplaced(outcome, `"${path}" must not validate the schema (not)`);
    }
  };
}

function tried(validate: Validate, value: JsonValue, path: string): Outcome {
  const outcome = newOutcome();
  validate({ value, path, old: undefined }, outcome);
  return outcome;
}
