import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** Everything a path leads to, in order. */
export type Find = (object: JsonObject) => readonly JsonValue[];

export type JsonPath =
  | { readonly ok: true; readonly find: Find }
  | { readonly ok: false; readonly problem: string };

type Step = (value: JsonValue) => readonly JsonValue[];

const NAME = /^\.((?:[^.[\]\\]|\\.)+)/;
const QUOTED = /^\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/;
const INDEX = /^\[\s*(-?\d+)\s*\]/;
const ALL = /^(?:\[\s*\*\s*\]|\.\*)/;
const FILTER =
  /^\[\s*\?\s*\(\s*@((?:\.(?:[^.[\]\\\s=!<>)]|\\.)+)+)\s*(?:(==|!=|<=|>=|<|>)\s*([^)]+?)\s*)?\)\s*\]/;
const COMPARE: ReadonlyMap<string, (a: Comparable, b: Comparable) => boolean> = new Map([
  ["==", (a: Comparable, b: Comparable) => a === b],
  ["!=", (a: Comparable, b: Comparable) => a !== b],
  ["<", (a: Comparable, b: Comparable) => a < b],
  ["<=", (a: Comparable, b: Comparable) => a <= b],
  [">", (a: Comparable, b: Comparable) => a > b],
  [">=", (a: Comparable, b: Comparable) => a >= b],
]);

type Comparable = string | number | boolean;

/** The part of Kubernetes' JSONPath that columns use: names, `['x']`, `[0]`, `[*]` and filters. */
export function readJsonPath(path: string): JsonPath {
  const steps: Step[] = [];
  let rest = path === "." ? "" : path;
  while (rest !== "") {
    const read = readStep(rest);
    if (read === undefined)
      return { ok: false, problem: `kube-sim cannot follow ${rest} in the path ${path}` };
    steps.push(read.step);
    rest = rest.slice(read.length);
  }
  return {
    ok: true,
    find: (object) => steps.reduce<readonly JsonValue[]>((values, step) => values.flatMap(step), [object]),
  };
}

function readStep(rest: string): { step: Step; length: number } | undefined {
  const all = ALL.exec(rest);
  if (all !== null) return { step: childrenOf, length: all[0].length };
  const name = NAME.exec(rest) ?? QUOTED.exec(rest);
  if (name !== null) return { step: fieldStep(unescaped(name[1] ?? name[2] ?? "")), length: name[0].length };
  const index = INDEX.exec(rest);
  if (index !== null) return { step: indexStep(Number(index[1])), length: index[0].length };
  const filter = FILTER.exec(rest);
  const step = filter === null ? undefined : filterStep(filter);
  return filter === null || step === undefined ? undefined : { step, length: filter[0].length };
}

function unescaped(name: string): string {
  return name.replaceAll(/\\(.)/g, "$1");
}

function fieldStep(name: string): Step {
  return (value) => {
    const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return found === undefined ? [] : [found];
  };
}

function indexStep(index: number): Step {
  return (value) => {
    const found = isList(value) ? value.at(index) : undefined;
    return found === undefined ? [] : [found];
  };
}

function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (isList(value)) return value;
  return isObject(value) ? Object.values(value).filter((child) => child !== undefined) : [];
}

function filterStep([, path = "", operator, literal]: RegExpExecArray): Step | undefined {
  const left = readJsonPath(path);
  if (!left.ok) return undefined;
  const find = (value: JsonValue): JsonValue | undefined =>
    isObject(value) ? left.find(value)[0] : undefined;
  if (operator === undefined) return (value) => childrenOf(value).filter((item) => find(item) !== undefined);
  const compare = COMPARE.get(operator);
  const right = comparableIn(literal ?? "");
  if (compare === undefined || right === undefined) return undefined;
  return (value) =>
    childrenOf(value).filter((item) => {
      const found = find(item);
      return isComparable(found) && typeof found === typeof right && compare(found, right);
    });
}

function isComparable(value: JsonValue | undefined): value is Comparable {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function comparableIn(literal: string): Comparable | undefined {
  const quoted = /^(['"])(.*)\1$/s.exec(literal);
  if (quoted !== null) return unescaped(quoted[2] ?? "");
  if (literal === "true" || literal === "false") return literal === "true";
  return /^-?\d+(\.\d+)?$/.test(literal) ? Number(literal) : undefined;
}
