import { compileExpression, type Program } from "../cel/compile.ts";
import type { Shape } from "../cel/shape.ts";
import { optionalOf } from "../cel/types.ts";
import { readFieldPath } from "../field-path.ts";
import type { Rule, Schema } from "../schema.ts";

/** A rule that can be run. */
export interface CompiledRule {
  readonly rule: Rule;
  readonly program: Program;
  readonly message: Program | undefined;
  /** The field it blames, below the one it stands at; "": that one. */
  readonly fieldPath: string;
}

export type RuleCompilation =
  | { readonly ok: true; readonly compiled: CompiledRule }
  /** `part` is the field of the rule that is wrong. */
  | { readonly ok: false; readonly part: "rule" | "messageExpression"; readonly problem: string };

/** Makes a rule of `schema`, whose values look like `shape`, ready to run. */
export function compileRule(rule: Rule, shape: Shape, schema: Schema): RuleCompilation {
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(shape.type) : shape.type;
  const variables = { self: shape.type, oldSelf };
  const test = compileExpression(rule.rule, variables);
  if (!test.ok) return { ok: false, part: "rule", problem: `compilation failed: ${test.problem}` };
  if (test.type.kind !== "bool") {
    return { ok: false, part: "rule", problem: "cel expression must evaluate to a bool" };
  }
  const { messageExpression } = rule;
  const message = messageExpression === "" ? undefined : compileExpression(messageExpression, variables);
  if (message?.ok === false) {
    return {
      ok: false,
      part: "messageExpression",
      problem: `messageExpression compilation failed: ${message.problem}`,
    };
  }
  if (message !== undefined && message.type.kind !== "string") {
    return { ok: false, part: "messageExpression", problem: "messageExpression must evaluate to a string" };
  }
  const path = readFieldPath(rule.fieldPath, schema);
  const compiled = {
    rule,
    program: test.program,
    message: message?.program,
    fieldPath: path.ok ? path.path : "",
  };
  return { ok: true, compiled };
}
