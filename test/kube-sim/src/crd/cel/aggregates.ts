import type { Expression } from "./ast.ts";
import type { Compile, Compiled, Frame, Scope } from "./compiled.ts";
import { Uncompilable } from "./problem.ts";
import { DYN, joined, listOf, mapOf, type Type, typeText } from "./types.ts";
import { failure, isFailure, listValue, type MapKey, mapKey, type Value } from "./values.ts";

type MapExpression = Extract<Expression, { kind: "map" }>;

export function list(items: readonly Expression[], scope: Scope, compile: Compile): Compiled {
  const compiled = items.map((item) => compile(item, scope));
  return { type: listOf(commonType(items, compiled)), run: listRun(compiled) };
}

/** A list of any items. */
export function mixedList(items: readonly Expression[], scope: Scope, compile: Compile): Compiled {
  return { type: listOf(DYN), run: listRun(items.map((item) => compile(item, scope))) };
}

function listRun(items: readonly Compiled[]): Compiled["run"] {
  return (frame) => {
    const values: Value[] = [];
    for (const item of items) {
      const value = item.run(frame);
      if (isFailure(value)) return value;
      values.push(value);
    }
    return listValue(values);
  };
}

export function map(expression: MapExpression, scope: Scope, compile: Compile): Compiled {
  const { entries } = expression;
  const keys = entries.map(({ key }) => compile(key, scope));
  const values = entries.map(({ value }) => compile(value, scope));
  const type = mapOf(
    commonType(
      entries.map(({ key }) => key),
      keys,
    ),
    commonType(
      entries.map(({ value }) => value),
      values,
    ),
  );
  return { type, run: (frame) => mapFrom(keys, values, frame) };
}

function mapFrom(keys: readonly Compiled[], values: readonly Compiled[], frame: Frame): Value {
  const found = new Map<MapKey, Value>();
  for (const [position, keyPart] of keys.entries()) {
    const key = keyPart.run(frame);
    if (isFailure(key)) return key;
    const value = values[position]?.run(frame) ?? null;
    if (isFailure(value)) return value;
    const at = mapKey(key);
    if (at === undefined) return failure("unsupported key type");
    found.set(at, value);
  }
  return { kind: "map", entries: found };
}

/** Kubernetes wants the items of a literal to be of one type. */
function commonType(items: readonly Expression[], compiled: readonly Compiled[]): Type {
  let type: Type = { kind: "param", name: "item" };
  for (const [position, { type: next }] of compiled.entries()) {
    const both = joined(type, next);
    if (both === undefined) {
      throw new Uncompilable(
        items[position]?.at ?? 0,
        `expected type '${typeText(type)}' but found '${typeText(next)}'`,
      );
    }
    type = both;
  }
  return type;
}
