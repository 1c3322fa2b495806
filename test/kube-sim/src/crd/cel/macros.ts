import type { Call, Expression } from "./ast.ts";
import { type Compile, type Compiled, type Frame, type Scope, withVariable } from "./compiled.ts";
import { Uncompilable } from "./problem.ts";
import { BOOL, DYN, listOf, optionalOf, type Type, typeText } from "./types.ts";
import {
  type Failure,
  failure,
  fieldOf,
  isFailure,
  isTagged,
  listValue,
  NO_SUCH_OVERLOAD,
  type Value,
} from "./values.ts";

type Macro = (call: Call, scope: Scope, compile: Compile) => Compiled;

/** By name and number of arguments. */
const MACROS: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ["all/2", quantifier(false)],
  ["exists/2", quantifier(true)],
  ["exists_one/2", existsOne],
  ["existsOne/2", existsOne],
  ["filter/2", filter],
  ["map/2", map],
  ["map/3", map],
  ["optMap/2", optionalMap(false)],
  ["optFlatMap/2", optionalMap(true)],
]);

/** undefined: the call is none. */
export function macroOf({ name, target, args }: Call): Macro | undefined {
  if (target === undefined) return name === "has" ? has : undefined;
  return MACROS.get(`${name}/${args.length}`);
}

function has({ args, at }: Call, scope: Scope, compile: Compile): Compiled {
  const [argument] = args;
  if (args.length !== 1 || argument?.kind !== "select" || argument.isOptional) {
    throw new Uncompilable(argument?.at ?? at, "invalid argument to has() macro");
  }
  // Compiled only to be checked: a field that cannot exist is a mistake in the rule.
  compile({ ...argument, at }, scope);
  const { field } = argument;
  const target = compile(argument.target, scope);
  return {
    type: BOOL,
    run: (frame) => {
      const value = target.run(frame);
      return isFailure(value) ? value : isPresent(value, field);
    },
  };
}

function isPresent(value: Value, field: string): Value {
  if (isTagged(value, "object")) {
    const known = value.type.fields.get(field);
    return known !== undefined && fieldOf(value, known.name) !== undefined;
  }
  if (isTagged(value, "map")) return value.entries.has(field);
  if (isTagged(value, "optional")) return value.value !== undefined && isPresent(value.value, field);
  return NO_SUCH_OVERLOAD;
}

interface Loop {
  readonly items: (frame: Frame) => readonly Value[] | Failure;
  readonly inner: Scope;
  readonly slot: number;
  readonly itemType: Type;
}

function loop({ target, args, at }: Call, scope: Scope, compile: Compile): Loop {
  const [variable] = args;
  if (variable?.kind !== "name") throw new Uncompilable(variable?.at ?? at, "argument must be a simple name");
  const range = compile(target ?? variable, scope);
  const itemType = itemTypeOf(range.type, target ?? variable);
  const { scope: inner, slot } = withVariable(scope, variable.name, itemType);
  const items = (frame: Frame): readonly Value[] | Failure => itemsOf(range.run(frame));
  return { items, inner, slot, itemType };
}

function itemTypeOf(type: Type, range: Expression): Type {
  switch (type.kind) {
    case "list":
      return type.item;
    case "map":
      return type.key;
    case "dyn":
      return DYN;
    default:
      throw new Uncompilable(
        range.at,
        `expression of type '${typeText(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
  }
}

function itemsOf(range: Value): readonly Value[] | Failure {
  if (isFailure(range)) return range;
  if (isTagged(range, "list")) return range.items;
  return isTagged(range, "map") ? [...range.entries.keys()] : failure("no such overload");
}

/** The test of a loop: a bool. */
function predicate(expression: Expression | undefined, inner: Scope, compile: Compile): Compiled {
  if (expression === undefined) throw new Uncompilable(0, "a macro lacks its expression");
  const test = compile(expression, inner);
  if (test.type.kind !== "bool" && test.type.kind !== "dyn") {
    throw new Uncompilable(expression.at, `expected type 'bool' but found '${typeText(test.type)}'`);
  }
  return test;
}

/** `all` ends at the first false, `exists` at the first true: that item settles it, whatever went wrong with others. */
function quantifier(settles: boolean): Macro {
  return (call, scope, compile) => {
    const { items, inner, slot } = loop(call, scope, compile);
    const test = predicate(call.args[1], inner, compile);
    return { type: BOOL, run: (frame) => quantified(frame, { items, slot, test, settles }) };
  };
}

function quantified(
  frame: Frame,
  { items, slot, test, settles }: Pick<Loop, "items" | "slot"> & { test: Compiled; settles: boolean },
): Value {
  const range = items(frame);
  if ("problem" in range) return range;
  let problem: Value | undefined;
  for (const item of range) {
    frame[slot] = item;
    const result = test.run(frame);
    if (result === settles) return settles;
    if (result !== !settles) problem ??= isFailure(result) ? result : NO_SUCH_OVERLOAD;
  }
  return problem ?? !settles;
}

function existsOne(call: Call, scope: Scope, compile: Compile): Compiled {
  const { items, inner, slot } = loop(call, scope, compile);
  const test = predicate(call.args[1], inner, compile);
  return {
    type: BOOL,
    run: (frame) => {
      const range = items(frame);
      if ("problem" in range) return range;
      let count = 0;
      for (const item of range) {
        frame[slot] = item;
        const result = test.run(frame);
        if (typeof result !== "boolean") return isFailure(result) ? result : NO_SUCH_OVERLOAD;
        if (result) count++;
      }
      return count === 1;
    },
  };
}

function filter(call: Call, scope: Scope, compile: Compile): Compiled {
  const { items, inner, slot, itemType } = loop(call, scope, compile);
  const test = predicate(call.args[1], inner, compile);
  return { type: listOf(itemType), run: (frame) => collected(frame, { items, slot, test }) };
}

function map(call: Call, scope: Scope, compile: Compile): Compiled {
  const { items, inner, slot } = loop(call, scope, compile);
  const isFiltered = call.args.length === 3;
  const test = isFiltered ? predicate(call.args[1], inner, compile) : undefined;
  const transform = predicateFree(call.args[isFiltered ? 2 : 1], inner, compile);
  return { type: listOf(transform.type), run: (frame) => collected(frame, { items, slot, test, transform }) };
}

function predicateFree(expression: Expression | undefined, inner: Scope, compile: Compile): Compiled {
  if (expression === undefined) throw new Uncompilable(0, "a macro lacks its expression");
  return compile(expression, inner);
}

interface Collecting extends Pick<Loop, "items" | "slot"> {
  readonly test: Compiled | undefined;
  readonly transform?: Compiled;
}

function collected(frame: Frame, { items, slot, test, transform }: Collecting): Value {
  const range = items(frame);
  if ("problem" in range) return range;
  const found: Value[] = [];
  for (const item of range) {
    frame[slot] = item;
    const isKept = test === undefined ? true : test.run(frame);
    if (typeof isKept !== "boolean") return isFailure(isKept) ? isKept : NO_SUCH_OVERLOAD;
    if (!isKept) continue;
    const result = transform === undefined ? item : transform.run(frame);
    if (isFailure(result)) return result;
    found.push(result);
  }
  return listValue(found);
}

/** `maybe.optMap(x, …)`: what the expression makes of the value, when there is one. */
function optionalMap(isFlat: boolean): Macro {
  return (call, scope, compile) => {
    const [variable, expression] = call.args;
    if (variable?.kind !== "name" || call.target === undefined || expression === undefined) {
      throw new Uncompilable(call.at, `${call.name}() variable name must be a simple identifier`);
    }
    const maybe = compile(call.target, scope);
    const itemType = maybe.type.kind === "optional" ? maybe.type.item : DYN;
    const { scope: inner, slot } = withVariable(scope, variable.name, itemType);
    const transform = compile(expression, inner);
    const run = (frame: Frame): Value => {
      const value = maybe.run(frame);
      if (!isTagged(value, "optional")) return isFailure(value) ? value : NO_SUCH_OVERLOAD;
      if (value.value === undefined) return value;
      frame[slot] = value.value;
      const result = transform.run(frame);
      return isFlat || isFailure(result) ? result : { kind: "optional", value: result };
    };
    return { type: isFlat ? transform.type : optionalOf(transform.type), run };
  };
}
