import type { Admission, Cause, Write } from "../api/definition.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { invalid } from "./causes.ts";
import type { Correlation } from "./correlation.ts";
import { hasDefaults, withDefaults } from "./defaults.ts";
import { compileEmbedded } from "./embedded.ts";
import { compileListTypes, type FindCauses } from "./list-types.ts";
import { pruned } from "./prune.ts";
import { compileRules } from "./rules/compile-rules.ts";
import type { RuleFindings } from "./rules/rule-place.ts";
import type { Schema } from "./schema.ts";
import { compileSchema } from "./validate/compile-schema.ts";
import { newOutcome, type Validate } from "./validate/outcome.ts";

/** Problems of these kinds mean that an object has not the shape that rules count on. */
const BLOCKS_RULES: ReadonlySet<Cause["reason"]> = new Set<Cause["reason"]>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const RULES_BLOCKED: Cause = invalid(
  "<nil>",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Judges objects of one kind in the steps of the API server: prune, default, schema, lists, rules. */
export function objectAdmission(schema: Schema, kind: Kind): (write: Write) => Admission {
  const judge = objectJudge(schema);
  const isCompleted = hasDefaults(schema);
  return (write) => {
    const { object: known, unknown } = pruned(write.object, schema);
    const unknownFields = unknown.map((field) => ({ field, message: `unknown field "${field}"` }));
    if (write.fieldValidation === "Strict" && unknownFields.length > 0) {
      const causes = unknownFields.map(
        ({ field, message }): Cause => ({ reason: "FieldValueInvalid", field, message }),
      );
      return { ok: false, code: 400, causes };
    }
    const object = isCompleted ? withDefaults(known, schema) : known;
    const misnamed = typeCauses(object, kind);
    if (misnamed.length > 0) return { ok: false, code: 422, causes: misnamed };
    const { causes, warnings } = judge({ ...write, object });
    if (causes.length > 0) return { ok: false, code: 422, causes };
    const unknownWarnings =
      write.fieldValidation === "Warn" ? unknownFields.map(({ message }) => message) : [];
    return { ok: true, object, warnings: [...unknownWarnings, ...warnings] };
  };
}

function typeCauses(object: JsonObject, kind: Kind): Cause[] {
  const causes: Cause[] = [];
  if (object["kind"] !== kind.kind)
    causes.push(invalid("kind", object["kind"] ?? "", `must be ${kind.kind}`));
  if (object["apiVersion"] !== kind.apiVersion) {
    causes.push(invalid("apiVersion", object["apiVersion"] ?? "", `must be ${kind.apiVersion}`));
  }
  return causes;
}

function objectJudge(schema: Schema): (write: Write) => RuleFindings {
  const validate = compileSchema(schema);
  const status = schema.properties.get("status");
  const validateStatus = status === undefined ? undefined : compileSchema(status);
  const runRules = compileRules(schema);
  const listCauses = compileListTypes(schema);
  const embeddedCauses = compileEmbedded(schema);
  return ({ object, old, isStatus }) => {
    const causes = isStatus
      ? shapeCauses(validateStatus, { value: object["status"], old: old?.["status"], prefix: "status" })
      : shapeCauses(validate, { value: object, old, prefix: "" });
    if (embeddedCauses !== undefined && !isStatus) causes.push(...embeddedCauses(object, ""));
    if (listCauses !== undefined) causes.push(...newListCauses(listCauses, object, old));
    const findings: RuleFindings = { causes, warnings: [] };
    if (runRules === undefined) return findings;
    if (causes.some(({ reason }) => BLOCKS_RULES.has(reason))) causes.push(RULES_BLOCKED);
    else
      runRules({ value: object, old, path: "", correlation: correlationOf(schema, object, old) }, findings);
    return findings;
  };
}

function correlationOf(
  schema: Schema,
  value: JsonObject,
  old: JsonObject | undefined,
): Correlation | undefined {
  return old === undefined ? undefined : { schema, value, old, isOwn: true };
}

interface Part {
  readonly value: JsonValue | undefined;
  readonly old: JsonValue | undefined;
  /** The place of the part; paths in messages are relative to it, as in Kubernetes. */
  readonly prefix: string;
}

function shapeCauses(validate: Validate | undefined, { value, old, prefix }: Part): Cause[] {
  if (validate === undefined || value === undefined) return [];
  const outcome = newOutcome();
  validate({ value, path: "", old }, outcome);
  if (outcome.problems.length === 0) return [];
  const field = (path: string): string => {
    const inner = path.startsWith(".") ? path.slice(1) : path;
    if (inner === "") return prefix === "" ? "<nil>" : prefix;
    return prefix === "" ? inner : `${prefix}.${inner}`;
  };
  return outcome.problems.map(({ cause }) => cause(field));
}

/** Lists that were wrong before may stay so. */
function newListCauses(listCauses: FindCauses, object: JsonObject, old: JsonObject | undefined): Cause[] {
  const causes = listCauses(object, "");
  if (causes.length === 0 || old === undefined) return causes;
  return listCauses(old, "").length === 0 ? causes : [];
}
