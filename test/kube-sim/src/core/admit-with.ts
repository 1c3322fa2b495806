import type { Admission, Cause, ResourceDefinition, Write } from "../api/definition.ts";
import type { JsonObject } from "../json.ts";
import { checkSchema } from "./check-schema.ts";
import { decode } from "./decode.ts";

export interface KindRules {
  readonly schema: JsonObject;
  /** Sets what was left open. */
  readonly complete?: (object: JsonObject, old: JsonObject | undefined) => JsonObject;
  /** What the schema cannot say. */
  readonly judge?: (object: JsonObject, old: JsonObject | undefined) => readonly Cause[];
}

/** How every built-in kind is admitted: read into its type, completed, judged. */
export function admitWith({ schema, complete, judge }: KindRules): ResourceDefinition["admit"] {
  return ({ object, old, fieldValidation }: Write): Admission => {
    const decoded = decode(schema, object);
    if (decoded.mistyped.length > 0) return { ok: false, code: 400, causes: decoded.mistyped };
    if (fieldValidation === "Strict" && decoded.unknown.length > 0)
      return { ok: false, code: 400, causes: decoded.unknown.map(unknownField) };
    const whole = complete === undefined ? decoded.object : complete(decoded.object, old);
    const causes = [...checkSchema(schema, whole), ...(judge === undefined ? [] : judge(whole, old))];
    if (causes.length > 0) return { ok: false, code: 422, causes };
    const warnings =
      fieldValidation === "Ignore" ? [] : decoded.unknown.map((path) => unknownField(path).message);
    return { ok: true, object: whole, warnings };
  };
}

function unknownField(path: string): Cause {
  return { reason: "FieldValueInvalid", field: path, message: `unknown field "${path}"` };
}
