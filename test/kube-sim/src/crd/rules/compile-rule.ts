import { compileExpression, type Program, type Variables } from "../cel/compile.ts";
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
  const message = compileMessage(rule.messageExpression, variables);
  if ("problem" in message) return { ok: false, part: "messageExpression", problem: message.problem };
  const path = readFieldPath(rule.fieldPath, schema);
  const fieldPath = path.ok ? path.path : "";
  return { ok: true, compiled: { rule, program: test.program, message: message.program, fieldPath } };
}

function compileMessage(
  expression: string,
  variables: Variables,
): { readonly program: Program | undefined } | { readonly problem: string } {
  if (expression === "") return { program: undefined };
  const compiled = compileExpression(expression, variables);
  if (!compiled.ok) return { problem: `messageExpression compilation failed: ${compiled.problem}` };
  if (compiled.type.kind !== "string") return { problem: "messageExpression must evaluate to a string" };
  return { program: compiled.program };
}
