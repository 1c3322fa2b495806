import {
  A,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from "../types.ts";
import {
  failure,
  isFailure,
  isTagged,
  type ListValue,
  listValue,
  NO_SUCH_OVERLOAD,
  sameValue,
  type Value,
} from "../values.ts";
import { isIn, OPERATORS, order } from "./operators.ts";
import { anyArg, fits, fn, intArg, method, type Overload, taggedArg } from "./overload.ts";

const SORTABLE: readonly Type[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
const SUMMABLE: readonly (readonly [Type, Value])[] = [
  [INT, 0n],
  [UINT, { kind: "uint", value: 0n }],
  [DOUBLE, 0],
  [DURATION, { kind: "duration", nanos: 0n }],
];
const ANY_LIST = listOf(A);

export const LISTS: readonly Overload[] = [
  ...SORTABLE.flatMap((type) => [
    method("isSorted", [listOf(type)], [BOOL, ([list]) => isSorted(itemsOf(list))]),
    method("min", [listOf(type)], [type, ([list]) => best(itemsOf(list), "min")]),
    method("max", [listOf(type)], [type, ([list]) => best(itemsOf(list), "max")]),
  ]),
  ...SUMMABLE.map(([type, zero]) =>
    method("sum", [listOf(type)], [type, ([list]) => sum(itemsOf(list), zero)]),
  ),
  method("indexOf", [ANY_LIST, A], [INT, ([list, item]) => indexIn(itemsOf(list), anyArg(item))]),
  method("lastIndexOf", [ANY_LIST, A], [INT, ([list, item]) => lastIndexIn(itemsOf(list), anyArg(item))]),
  method("includes", [DYN, DYN], [BOOL, ([list, item]) => includes(anyArg(list), anyArg(item))]),
  method(
    "slice",
    [ANY_LIST, INT, INT],
    [ANY_LIST, ([list, from, to]) => slice(itemsOf(list), intArg(from), intArg(to))],
  ),
  method("reverse", [ANY_LIST], [ANY_LIST, ([list]) => listValue(itemsOf(list).toReversed())]),
  method("distinct", [ANY_LIST], [ANY_LIST, ([list]) => listValue(distinct(itemsOf(list)))]),
  ...sets(),
];

function sets(): Overload[] {
  const tests: readonly (readonly [string, (a: ListValue, b: ListValue) => boolean])[] = [
    ["sets.contains", (a, b) => b.items.every((item) => isIn(item, a))],
    [
      "sets.equivalent",
      (a, b) => b.items.every((item) => isIn(item, a)) && a.items.every((item) => isIn(item, b)),
    ],
    ["sets.intersects", (a, b) => b.items.some((item) => isIn(item, a))],
  ];
  return tests.map(([name, test]) =>
    fn(name, [ANY_LIST, ANY_LIST], [BOOL, ([a, b]) => test(taggedArg(a, "list"), taggedArg(b, "list"))]),
  );
}

function itemsOf(list: Value | undefined): readonly Value[] {
  return taggedArg(list, "list").items;
}

function isSorted(items: readonly Value[]): Value {
  return items.every((item, index) => index === 0 || (order(items[index - 1] ?? null, item) ?? 0) <= 0);
}

function best(items: readonly Value[], name: "min" | "max"): Value {
  const [first, ...rest] = items;
  if (first === undefined) return failure(`${name} called on empty list`);
  const sign = name === "min" ? 1 : -1;
  return rest.reduce((found, item) => (sign * (order(found, item) ?? 0) > 0 ? item : found), first);
}

function sum(items: readonly Value[], zero: Value): Value {
  let total = zero;
  for (const item of items) {
    total = plus([total, item]);
    if (isFailure(total)) return total;
  }
  return total;
}

const ADDITIONS = OPERATORS.filter(({ name }) => name === "_+_");

function plus(pair: readonly [Value, Value]): Value {
  const overload = ADDITIONS.find(({ params }) =>
    params.every((type, index) => fits(type, pair[index] ?? null)),
  );
  return overload === undefined ? NO_SUCH_OVERLOAD : overload.run(pair);
}

function indexIn(items: readonly Value[], wanted: Value): bigint {
  return BigInt(items.findIndex((item) => sameValue(item, wanted)));
}

function lastIndexIn(items: readonly Value[], wanted: Value): bigint {
  return BigInt(items.findLastIndex((item) => sameValue(item, wanted)));
}

function includes(list: Value, item: Value): Value {
  return isTagged(list, "list") ? isIn(item, list) : NO_SUCH_OVERLOAD;
}

function slice(items: readonly Value[], from: bigint, to: bigint): Value {
  if (from < 0n || to < 0n) return failure(`cannot slice(${from}, ${to}), negative indexes not supported`);
  if (from > to)
    return failure(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`);
  if (to > BigInt(items.length))
    return failure(`cannot slice(${from}, ${to}), list is length ${items.length}`);
  return listValue(items.slice(Number(from), Number(to)));
}

function distinct(items: readonly Value[]): readonly Value[] {
  return items.filter((item, index) => items.findIndex((other) => sameValue(item, other)) === index);
}
