import { list, map, mixedList } from "./aggregates.ts";
import type { Call, Constant, Expression, Literal, Name, Select } from "./ast.ts";
import { conditional, logical, strict } from "./calls.ts";
import type { Compiled, Scope } from "./compiled.ts";
import { overloadsOf } from "./functions/all.ts";
import { TYPE_NAMES } from "./functions/conversions.ts";
import { entryOf } from "./functions/operators.ts";
import { macroOf } from "./macros.ts";
import { parse } from "./parser.ts";
import { problemText, Uncompilable } from "./problem.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  INT,
  joined,
  NULL,
  type ObjectField,
  optionalOf,
  STRING,
  TYPE,
  type Type,
  typeText,
  UINT,
} from "./types.ts";
import { failure, fieldOf, isFailure, isTagged, NO_SUCH_OVERLOAD, type Value } from "./values.ts";

export interface Variables {
  readonly self: Type;
  readonly oldSelf: Type;
}

export interface Program {
  readonly usesOldSelf: boolean;
  readonly run: (self: Value, oldSelf: Value) => Value;
}

export type Compilation =
  | { readonly ok: true; readonly type: Type; readonly program: Program }
  /** With its place in the source. */
  | { readonly ok: false; readonly problem: string };

/** Checks the types of an expression and makes a function of it. What it cannot do is refused here, not later. */
export function compileExpression(source: string, { self, oldSelf }: Variables): Compilation {
  const scope: Scope = {
    variables: new Map([
      ["self", { slot: 0, type: self }],
      ["oldSelf", { slot: 1, type: oldSelf }],
    ]),
    free: 2,
  };
  try {
    const expression = parse(source);
    const { type, run } = compile(expression, scope);
    const usesOldSelf = mentions(expression, "oldSelf");
    return { ok: true, type, program: { usesOldSelf, run: (now, before) => run([now, before]) } };
  } catch (error) {
    if (error instanceof Uncompilable) return { ok: false, problem: problemText(source, error.problem) };
    throw error;
  }
}

function compile(expression: Expression, scope: Scope): Compiled {
  switch (expression.kind) {
    case "constant":
      return constant(expression);
    case "name":
      return name(expression, scope);
    case "select":
      return select(expression, scope);
    case "call":
      return call(expression, scope);
    case "list":
      return list(expression.items, scope, compile);
    case "map":
      return map(expression, scope, compile);
  }
}

function constant({ value: literal }: Constant): Compiled {
  const { type, value } = literalOf(literal);
  return { type, run: () => value, constant: value };
}

function literalOf(literal: Literal): { type: Type; value: Value } {
  if (literal === null) return { type: NULL, value: null };
  switch (typeof literal) {
    case "boolean":
      return { type: BOOL, value: literal };
    case "bigint":
      return { type: INT, value: literal };
    case "number":
      return { type: DOUBLE, value: literal };
    case "string":
      return { type: STRING, value: literal };
    default:
      return "uint" in literal
        ? { type: UINT, value: { kind: "uint", value: literal.uint } }
        : { type: BYTES, value: { kind: "bytes", bytes: literal.bytes } };
  }
}

function name({ name: called, at }: Name, scope: Scope): Compiled {
  const variable = scope.variables.get(called);
  if (variable !== undefined) {
    const { slot, type } = variable;
    return { type, run: (frame) => frame[slot] ?? null };
  }
  if (TYPE_NAMES.has(called)) return typeConstant(called);
  throw new Uncompilable(at, `undeclared reference to '${called}' (in container '')`);
}

function typeConstant(called: string): Compiled {
  return { type: TYPE, run: () => ({ kind: "type", name: called }) };
}

function select(expression: Select, scope: Scope): Compiled {
  const qualified = qualifiedName(expression, scope);
  if (qualified !== undefined && TYPE_NAMES.has(qualified)) return typeConstant(qualified);
  const target = compile(expression.target, scope);
  const isChained = target.type.kind === "optional";
  const inner = target.type.kind === "optional" ? target.type.item : target.type;
  const field = fieldIn(inner, expression);
  const read = fieldReader(expression.field);
  if (!isChained && !expression.isOptional) {
    return {
      type: field.type,
      run: (frame) => {
        const value = target.run(frame);
        if (isFailure(value)) return value;
        const found = read(value);
        return found === undefined ? failure(`no such key: ${expression.field}`) : found;
      },
    };
  }
  return { type: optionalOf(field.type), run: (frame) => optionalEntry(target.run(frame), read) };
}

/** The value inside an optional, or of the target itself; absent stays absent. */
function optionalEntry(target: Value, read: (value: Value) => Value | undefined): Value {
  if (isFailure(target)) return target;
  const inner = isTagged(target, "optional") ? target.value : target;
  const value = inner === undefined ? undefined : read(inner);
  return value !== undefined && isFailure(value) ? value : { kind: "optional", value };
}

function fieldIn(type: Type, { field, at }: Select): Pick<ObjectField, "type"> {
  switch (type.kind) {
    case "object": {
      const found = type.fields.get(field);
      if (found === undefined) throw new Uncompilable(at, `undefined field '${field}'`);
      return found;
    }
    case "map":
      return { type: type.value };
    case "dyn":
      return { type: DYN };
    default:
      throw new Uncompilable(at, `type '${typeText(type)}' does not support field selection`);
  }
}

function fieldReader(field: string): (value: Value) => Value | undefined {
  return (value) => {
    if (isTagged(value, "object")) {
      const known = value.type.fields.get(field);
      return known === undefined ? undefined : fieldOf(value, known.name);
    }
    return isTagged(value, "map") ? value.entries.get(field) : NO_SUCH_OVERLOAD;
  };
}

function call(expression: Call, scope: Scope): Compiled {
  const asFunction = qualifiedCall(expression, scope);
  if (asFunction !== undefined) return strict(asFunction, scope, compile);
  const macro = macroOf(expression);
  if (macro !== undefined) return macro(expression, scope, compile);
  switch (expression.name) {
    case "_&&_":
    case "_||_":
      return logical(expression, scope, compile);
    case "_?_:_":
      return conditional(expression, scope, compile);
    case "_[?_]":
      return optionalIndex(expression, scope);
    case "_[_]":
      return index(expression, scope);
    case "format":
      return strict(expression, scope, compileMixed);
    default:
      return strict(expression, scope, compile);
  }
}

/** The arguments of `format` are the one list whose items may be of several types. */
function compileMixed(expression: Expression, scope: Scope): Compiled {
  return expression.kind === "list"
    ? mixedList(expression.items, scope, compile)
    : compile(expression, scope);
}

/** `sets.contains(a, b)` is a function with a dot in its name. */
function qualifiedCall(expression: Call, scope: Scope): Call | undefined {
  const before = expression.target === undefined ? undefined : qualifiedName(expression.target, scope);
  if (before === undefined) return undefined;
  const { at, args } = expression;
  const full = `${before}.${expression.name}`;
  return overloadsOf(full).length === 0 ? undefined : { kind: "call", at, name: full, args };
}

/** `a.b.c` where `a` is no variable. */
function qualifiedName(expression: Expression, scope: Scope): string | undefined {
  if (expression.kind === "name") return scope.variables.has(expression.name) ? undefined : expression.name;
  if (expression.kind !== "select" || expression.isOptional) return undefined;
  const before = qualifiedName(expression.target, scope);
  return before === undefined ? undefined : `${before}.${expression.field}`;
}

function index(expression: Call, scope: Scope): Compiled {
  const [targetPart] = expression.args;
  const isChained = targetPart !== undefined && compile(targetPart, scope).type.kind === "optional";
  return isChained ? optionalIndex(expression, scope) : strict(expression, scope, compile);
}

function optionalIndex(expression: Call, scope: Scope): Compiled {
  const [targetPart, keyPart] = expression.args;
  if (targetPart === undefined || keyPart === undefined) {
    throw new Uncompilable(expression.at, "an index lacks its key");
  }
  const target = compile(targetPart, scope);
  const key = compile(keyPart, scope);
  const inner = target.type.kind === "optional" ? target.type.item : target.type;
  return {
    type: optionalOf(entryType(inner, key.type, expression)),
    run: (frame) => {
      const at = key.run(frame);
      return isFailure(at) ? at : optionalEntry(target.run(frame), (value) => entryOf(value, at));
    },
  };
}

function entryType(type: Type, key: Type, { at }: Call): Type {
  if (type.kind === "dyn") return DYN;
  if (type.kind === "list" && (key.kind === "int" || key.kind === "dyn")) return type.item;
  if (type.kind === "map" && joined(type.key, key) !== undefined) return type.value;
  const applied = `${typeText(type)}, ${typeText(key)}`;
  throw new Uncompilable(at, `found no matching overload for '_[?_]' applied to '(${applied})'`);
}

function mentions(expression: Expression, wanted: string): boolean {
  switch (expression.kind) {
    case "name":
      return expression.name === wanted;
    case "select":
      return mentions(expression.target, wanted);
    case "call":
      return [...expression.args, ...(expression.target === undefined ? [] : [expression.target])].some(
        (part) => mentions(part, wanted),
      );
    case "list":
      return expression.items.some((item) => mentions(item, wanted));
    case "map":
      return expression.entries.some(({ key, value }) => mentions(key, wanted) || mentions(value, wanted));
    case "constant":
      return false;
  }
}
