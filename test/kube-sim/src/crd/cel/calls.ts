import { compileRe2 } from "../re2/compile-re2.ts";
import type { Call, Expression } from "./ast.ts";
import type { Compile, Compiled, Frame, Scope } from "./compiled.ts";
import { isMissing, overloadsOf } from "./functions/all.ts";
import { argumentsText, fits, type Overload } from "./functions/overload.ts";
import { Uncompilable } from "./problem.ts";
import { accepts, type Bindings, BOOL, bound, DYN, joined, type Type, typeText } from "./types.ts";
import { isFailure, NO_SUCH_OVERLOAD, type Value } from "./values.ts";

/** Constants are tried when the rule is installed: a wrong one would fail for every object. */
const CHECKED_PATTERNS: ReadonlySet<string> = new Set(["matches", "find", "findAll"]);
const CHECKED_TEXTS: ReadonlySet<string> = new Set(["duration", "timestamp"]);

export function logical(call: Call, scope: Scope, compile: Compile): Compiled {
  const [left, right] = call.args.map((argument) => boolean(argument, scope, compile));
  if (left === undefined || right === undefined)
    throw new Uncompilable(call.at, "an operator lacks an operand");
  // The value that settles it, whatever the other side is or does.
  const settles = call.name === "_||_";
  return {
    type: BOOL,
    run: (frame) => {
      const first = left.run(frame);
      if (first === settles) return settles;
      const second = right.run(frame);
      if (second === settles) return settles;
      if (typeof first !== "boolean") return isFailure(first) ? first : NO_SUCH_OVERLOAD;
      if (typeof second !== "boolean") return isFailure(second) ? second : NO_SUCH_OVERLOAD;
      return !settles;
    },
  };
}

export function conditional(call: Call, scope: Scope, compile: Compile): Compiled {
  const [testPart, thenPart, elsePart] = call.args;
  if (testPart === undefined || thenPart === undefined || elsePart === undefined) {
    throw new Uncompilable(call.at, "an operator lacks an operand");
  }
  const test = compile(testPart, scope);
  const yes = compile(thenPart, scope);
  const no = compile(elsePart, scope);
  const type = joined(yes.type, no.type);
  const isTest = test.type.kind === "bool" || test.type.kind === "dyn";
  if (type === undefined || !isTest) throw noOverload(call, [test.type, yes.type, no.type]);
  return {
    type,
    run: (frame) => {
      const result = test.run(frame);
      if (typeof result !== "boolean") return isFailure(result) ? result : NO_SUCH_OVERLOAD;
      return result ? yes.run(frame) : no.run(frame);
    },
  };
}

/** A function, a method or an operator. */
export function strict(call: Call, scope: Scope, compile: Compile): Compiled {
  const isMethod = call.target !== undefined;
  const given = call.target === undefined ? call.args : [call.target, ...call.args];
  const args = given.map((argument) => compile(argument, scope));
  const overloads = overloadsOf(call.name).filter((overload) => overload.isMethod === isMethod);
  if (overloads.length === 0) throw unknownFunction(call);
  const types = args.map(({ type }) => type);
  const { candidates, type } = matching(overloads, types);
  const [only] = candidates;
  if (only === undefined) throw noOverload(call, types);
  checkConstants(call, args);
  const isSettled = candidates.length === 1 && !types.some(isUnsure);
  return { type, run: isSettled ? direct(only, args) : dispatched(candidates, args) };
}

function boolean(expression: Expression, scope: Scope, compile: Compile): Compiled {
  const compiled = compile(expression, scope);
  if (compiled.type.kind === "bool" || compiled.type.kind === "dyn") return compiled;
  throw new Uncompilable(expression.at, `expected type 'bool' but found '${typeText(compiled.type)}'`);
}

function matching(
  overloads: readonly Overload[],
  types: readonly Type[],
): { candidates: Overload[]; type: Type } {
  const candidates: Overload[] = [];
  let type: Type | undefined;
  for (const overload of overloads) {
    const bindings: Bindings = new Map();
    const isMatch =
      overload.params.length === types.length &&
      overload.params.every((param, index) => accepts(param, types[index] ?? DYN, bindings));
    if (!isMatch) continue;
    candidates.push(overload);
    const result = bound(overload.result, bindings);
    type = type === undefined ? result : (joined(type, result) ?? DYN);
  }
  return { candidates, type: type ?? DYN };
}

function direct({ run }: Overload, args: readonly Compiled[]): Compiled["run"] {
  const [first, second] = args;
  if (args.length === 1 && first !== undefined) {
    return (frame) => {
      const value = first.run(frame);
      return isFailure(value) ? value : run([value]);
    };
  }
  if (args.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      const left = first.run(frame);
      if (isFailure(left)) return left;
      const right = second.run(frame);
      return isFailure(right) ? right : run([left, right]);
    };
  }
  return (frame) => withArguments(args, frame, run);
}

/** Chosen when the values are there. */
function dispatched(candidates: readonly Overload[], args: readonly Compiled[]): Compiled["run"] {
  return (frame) =>
    withArguments(args, frame, (values) => {
      for (const { params, run } of candidates) {
        if (params.every((param, index) => fits(param, values[index] ?? null))) return run(values);
      }
      return NO_SUCH_OVERLOAD;
    });
}

function withArguments(
  args: readonly Compiled[],
  frame: Frame,
  run: (values: readonly Value[]) => Value,
): Value {
  const values: Value[] = [];
  for (const argument of args) {
    const value = argument.run(frame);
    if (isFailure(value)) return value;
    values.push(value);
  }
  return run(values);
}

/** Whether the static type leaves open which overload is meant. */
function isUnsure(type: Type): boolean {
  switch (type.kind) {
    case "dyn":
    case "param":
      return true;
    case "list":
    case "optional":
      return isUnsure(type.item);
    case "map":
      return isUnsure(type.key) || isUnsure(type.value);
    default:
      return false;
  }
}

function checkConstants(call: Call, args: readonly Compiled[]): void {
  const position = CHECKED_PATTERNS.has(call.name) ? 1 : CHECKED_TEXTS.has(call.name) ? 0 : -1;
  const constant = args[position]?.constant;
  if (typeof constant !== "string" || isUsable(call.name, constant)) return;
  const expression = call.target === undefined ? call.args[position] : call.args[position - 1];
  throw new Uncompilable((expression ?? call).at, `invalid ${call.name} argument`);
}

function isUsable(name: string, constant: string): boolean {
  if (CHECKED_PATTERNS.has(name)) return compileRe2(constant).ok;
  const overload = overloadsOf(name).find(({ params }) => params[0]?.kind === "string");
  return overload === undefined || !isFailure(overload.run([constant]));
}

function unknownFunction({ name, at }: Call): Uncompilable {
  if (isMissing(name)) return new Uncompilable(at, `kube-sim does not have Kubernetes' function '${name}'`);
  return new Uncompilable(at, `undeclared reference to '${name}' (in container '')`);
}

function noOverload(call: Call, types: readonly Type[]): Uncompilable {
  const applied = argumentsText(call.target !== undefined, types);
  return new Uncompilable(call.at, `found no matching overload for '${call.name}' applied to '${applied}'`);
}
