import type { Cause } from "../../api/definition.ts";
import { isObject } from "../../core/look.ts";
import type { JsonValue } from "../../json.ts";
import { invalid } from "../causes.ts";
import { pruned } from "../prune.ts";
import { compileRules } from "../rules/compile-rules.ts";
import type { RuleFindings } from "../rules/rule-place.ts";
import { sameJson } from "../same-json.ts";
import { readSchema, type Schema } from "../schema.ts";
import { compileSchema } from "../validate/compile-schema.ts";
import { newOutcome } from "../validate/outcome.ts";
import { allNodes, type SchemaNode } from "./schema-walk.ts";

/** A default must be what the schema itself would let through. */
export function defaultCauses(root: SchemaNode): Cause[] {
  return defaultsIn(root).flatMap(({ schema, value, path }) => [
    ...unknownCauses(schema, value, path),
    ...shapeCauses(schema, value, path),
  ]);
}

/** Asked once every rule is known to compile. */
export function defaultRuleCauses(root: SchemaNode): Cause[] {
  return defaultsIn(root).flatMap(({ schema, value, path }) => {
    const findings: RuleFindings = { causes: [], warnings: [] };
    compileRules(schema, schema.isEmbedded)?.(
      { value, old: undefined, path, correlation: undefined },
      findings,
    );
    return findings.causes;
  });
}

interface Default {
  readonly schema: Schema;
  readonly value: JsonValue;
  readonly path: string;
}

function defaultsIn(root: SchemaNode): Default[] {
  return allNodes(root).flatMap(({ raw, path }) => {
    const value = raw["default"];
    return value === undefined ? [] : [{ schema: readSchema(raw), value, path: `${path}.default` }];
  });
}

function unknownCauses(schema: Schema, value: JsonValue, path: string): Cause[] {
  if (!isObject(value)) return [];
  const whole = { ...schema, isEmbedded: schema.isEmbedded };
  const { unknown } = pruned(value, whole);
  const isSame = unknown.length === 0 || sameJson(pruned(value, whole).object, value);
  return isSame ? [] : [invalid(path, value, "must not have unknown fields")];
}

function shapeCauses(schema: Schema, value: JsonValue, path: string): Cause[] {
  const outcome = newOutcome();
  compileSchema(schema)({ value, path: "", old: undefined }, outcome);
  const field = (inner: string): string => {
    if (inner === "") return path;
    return `${path}.${inner.startsWith(".") ? inner.slice(1) : inner}`;
  };
  return outcome.problems.map(({ cause }) => cause(field));
}
