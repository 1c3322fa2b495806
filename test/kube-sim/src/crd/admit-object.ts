import { invalid } from "../api/causes.ts";
import type { Admission, Cause, Write } from "../api/cluster-api.ts";
import type { JsonObject } from "../json.ts";
import { pruned, withDefaults } from "./complete.ts";
import { type RuleFindings, runRules } from "./rules.ts";
import type { Schema } from "./schema.ts";
import { schemaCauses } from "./validate.ts";

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

/** Judges objects of one kind in the steps of the API server: prune, default, schema, rules. */
export function objectAdmission(schema: Schema): (write: Write) => Admission {
  return (write) => {
    const { object: known, unknown } = pruned(write.object, schema);
    const refused = unknownFields(unknown, write);
    if (refused.admission !== undefined) return refused.admission;
    const object = withDefaults(known, schema);
    const { causes, warnings } = findings(schema, { ...write, object });
    if (causes.length > 0) return { ok: false, code: 422, causes };
    return { ok: true, object, warnings: [...refused.warnings, ...warnings] };
  };
}

/** How fields that the type does not have are answered: refused, warned of, or dropped in silence. */
export function unknownFields(
  unknown: readonly string[],
  { fieldValidation }: Pick<Write, "fieldValidation">,
): { readonly admission?: Admission; readonly warnings: readonly string[] } {
  const messages = unknown.map((field) => `unknown field "${field}"`);
  if (fieldValidation === "Warn") return { warnings: messages };
  if (fieldValidation === "Ignore" || unknown.length === 0) return { warnings: [] };
  const causes = unknown.map(
    (field): Cause => ({ reason: "FieldValueInvalid", field, message: `unknown field "${field}"` }),
  );
  return { admission: { ok: false, code: 400, causes }, warnings: [] };
}

function findings(schema: Schema, { object, old, isStatus }: Write): RuleFindings {
  const causes = isStatus ? statusCauses(schema, object, old) : wholeCauses(schema, object, old);
  const found: RuleFindings = { causes: [...causes], warnings: [] };
  if (!schema.has.rules) return found;
  if (causes.some(({ reason }) => BLOCKS_RULES.has(reason))) found.causes.push(RULES_BLOCKED);
  else runRules(schema, { value: object, path: "", old }, found);
  return found;
}

function wholeCauses(schema: Schema, object: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  return schemaCauses(schema, { value: object, path: "", old }).map((cause) => ({
    ...cause,
    field: cause.field || "<nil>",
  }));
}

/** Paths in messages are relative to the status, as in Kubernetes. */
function statusCauses(schema: Schema, object: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const status = schema.properties.get("status");
  const value = object["status"];
  if (status === undefined || value === undefined) return [];
  const causes = schemaCauses(status, { value, path: "", old: old?.["status"] });
  return causes.map((cause) => ({
    ...cause,
    field: cause.field === "" ? "status" : `status.${cause.field}`,
  }));
}
