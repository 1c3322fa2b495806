import type { Cause } from "../../api/definition.ts";
import type { JsonValue } from "../../json.ts";
import { duplicate, forbidden, invalid, required } from "../causes.ts";
import { isFailure, type Value } from "../cel/values.ts";
import { isUnchangedValue } from "../correlation.ts";
import type { CompiledRule } from "./compile-rule.ts";
import type { RuleFindings, RulePlace } from "./rule-place.ts";

const MAX_MESSAGE_BYTES = 5 * 1024;

/** Runs one rule; what was wrong before and did not change is a warning. */
export function runRule(compiled: CompiledRule, place: RulePlace, findings: RuleFindings): void {
  const { self } = place;
  const { rule, program } = compiled;
  const { usesOldSelf } = program;
  const hasOld = place.old !== undefined && place.old !== null;
  const isOptional = rule.optionalOldSelf === true;
  if (usesOldSelf && !hasOld && !isOptional) return;
  const oldSelf = usesOldSelf ? oldValue(place, hasOld, isOptional) : null;
  const result = program.run(self, oldSelf);
  if (result === true) return;
  if (isFailure(result)) {
    findings.causes.push(failureCause(compiled, result.problem, place));
    return;
  }
  const cause = brokenCause(compiled, place, messageOf(compiled, self, oldSelf));
  if (!usesOldSelf && isUnchangedValue(place.correlation))
    findings.warnings.push(`${cause.field}: ${cause.message}`);
  else findings.causes.push(cause);
}

function oldValue({ shape, old }: RulePlace, hasOld: boolean, isOptional: boolean): Value {
  const value = hasOld && old !== undefined ? shape.read(old) : undefined;
  if (isOptional) return { kind: "optional", value };
  return value ?? null;
}

function failureCause({ rule }: CompiledRule, problem: string, { path, schema }: RulePlace): Cause {
  const shown = rule.message === "" ? rule.rule.trim() : rule.message.trim();
  const detail =
    problem === "no such overload"
      ? `'${problem}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`
      : `${problem} evaluating rule: ${shown}`;
  return invalid(fieldText(path), schema.type, detail);
}

function brokenCause({ rule, fieldPath }: CompiledRule, place: RulePlace, detail: string): Cause {
  const { path, schema, value } = place;
  const field = fieldText(fieldPath === "" ? path : path === "" ? fieldPath : `${path}.${fieldPath}`);
  const isWhole = schema.type === "object" || schema.type === "array";
  const shown: JsonValue | undefined = isWhole ? undefined : value;
  switch (rule.reason) {
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

function messageOf({ rule, message }: CompiledRule, self: Value, oldSelf: Value): string {
  const made = message?.run(self, oldSelf);
  const text = typeof made === "string" ? made.trim() : "";
  const isFine = text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES;
  if (isFine) return text;
  return rule.message === "" ? `failed rule: ${rule.rule.trim()}` : rule.message.trim();
}

/** Kubernetes has a word for the root. */
function fieldText(path: string): string {
  return path === "" ? "<nil>" : path;
}
