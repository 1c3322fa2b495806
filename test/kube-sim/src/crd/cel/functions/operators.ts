import {
  A,
  B,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from "../types.ts";
import {
  failure,
  isTagged,
  type ListValue,
  mapKey,
  numeric,
  sameKeys,
  sameValue,
  type Value,
} from "../values.ts";
import { anyArg, doubleArg, fn, intArg, type Overload, taggedArg, textArg } from "./overload.ts";

const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);
const MAX_UINT = 2n ** 64n - 1n;

export const OPERATORS: readonly Overload[] = [
  fn("!_", [BOOL], [BOOL, ([value]) => value !== true]),
  fn("-_", [INT], [INT, ([value]) => checkedInt(-intArg(value))]),
  fn("-_", [DOUBLE], [DOUBLE, ([value]) => -doubleArg(value)]),
  fn("_==_", [A, A], [BOOL, ([a, b]) => sameValue(anyArg(a), anyArg(b))]),
  fn("_!=_", [A, A], [BOOL, ([a, b]) => !sameValue(anyArg(a), anyArg(b))]),
  fn("@in", [A, listOf(A)], [BOOL, ([item, list]) => isIn(anyArg(item), taggedArg(list, "list"))]),
  fn("@in", [A, mapOf(A, B)], [BOOL, ([key, map]) => hasKey(anyArg(map), anyArg(key))]),
  fn("_[_]", [listOf(A), INT], [A, ([list, index]) => itemAt(taggedArg(list, "list"), anyArg(index))]),
  fn("_[_]", [mapOf(A, B), A], [B, ([map, key]) => valueAt(anyArg(map), anyArg(key))]),
  ...comparisons(),
  ...arithmetic(),
  fn("_+_", [STRING, STRING], [STRING, ([a, b]) => textArg(a) + textArg(b)]),
  fn("_+_", [BYTES, BYTES], [BYTES, ([a, b]) => joinedBytes(anyArg(a), anyArg(b))]),
  fn(
    "_+_",
    [listOf(A), listOf(A)],
    [listOf(A), ([a, b]) => joinedLists(taggedArg(a, "list"), taggedArg(b, "list"))],
  ),
  fn("_+_", [DURATION, DURATION], [DURATION, ([a, b]) => duration(nanos(a) + nanos(b))]),
  fn("_-_", [DURATION, DURATION], [DURATION, ([a, b]) => duration(nanos(a) - nanos(b))]),
  fn("_-_", [TIMESTAMP, TIMESTAMP], [DURATION, ([a, b]) => duration(nanos(a) - nanos(b))]),
  fn("_+_", [TIMESTAMP, DURATION], [TIMESTAMP, ([a, b]) => timestamp(nanos(a) + nanos(b))]),
  fn("_+_", [DURATION, TIMESTAMP], [TIMESTAMP, ([a, b]) => timestamp(nanos(a) + nanos(b))]),
  fn("_-_", [TIMESTAMP, DURATION], [TIMESTAMP, ([a, b]) => timestamp(nanos(a) - nanos(b))]),
];

/** Less than 0, 0, or more than 0; undefined when the two have no order. */
export function order(a: Value, b: Value): number | undefined {
  const left = sortable(a);
  const right = sortable(b);
  if (left === undefined || right === undefined) return undefined;
  if (typeof left === "string" || typeof right === "string") {
    return typeof left === typeof right ? orderOfTexts(String(left), String(right)) : undefined;
  }
  if (left < right) return -1;
  if (left > right) return 1;
  // Not a number: neither less, nor more, nor equal.
  return Number.isNaN(left) || Number.isNaN(right) ? undefined : 0;
}

export function isIn(item: Value, list: ListValue): boolean {
  return list.items.some((other) => sameValue(item, other));
}

/** The value at an index or a key; undefined when there is none. */
export function entryOf(target: Value, key: Value): Value | undefined {
  if (isTagged(target, "list")) {
    const index = numeric(key);
    return index === undefined ? undefined : target.items[Number(index)];
  }
  const name = mapKey(key);
  return name !== undefined && isTagged(target, "map") ? target.entries.get(name) : undefined;
}

export function checkedInt(value: bigint): Value {
  return value > MAX_INT || value < MIN_INT ? failure("integer overflow") : value;
}

export function checkedUint(value: bigint): Value {
  return value > MAX_UINT || value < 0n ? failure("unsigned integer overflow") : { kind: "uint", value };
}

/** A double as a whole number, cut towards zero. */
export function wholePart(value: number): bigint | undefined {
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
}

function comparisons(): Overload[] {
  const same = [BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION].map(
    (type) => [type, type] as const,
  );
  const mixed = [INT, UINT, DOUBLE].flatMap((a) =>
    [INT, UINT, DOUBLE].filter((b) => b !== a).map((b) => [a, b] as const),
  );
  const tests: readonly (readonly [string, (order: number) => boolean])[] = [
    ["_<_", (order) => order < 0],
    ["_<=_", (order) => order <= 0],
    ["_>_", (order) => order > 0],
    ["_>=_", (order) => order >= 0],
  ];
  return tests.flatMap(([name, test]) =>
    [...same, ...mixed].map((params) =>
      fn(name, params, [
        BOOL,
        ([a, b]) => {
          const found = order(anyArg(a), anyArg(b));
          return found !== undefined && test(found);
        },
      ]),
    ),
  );
}

function arithmetic(): Overload[] {
  const doubles: readonly (readonly [string, (a: number, b: number) => number])[] = [
    ["_+_", (a, b) => a + b],
    ["_-_", (a, b) => a - b],
    ["_*_", (a, b) => a * b],
    ["_/_", (a, b) => a / b],
  ];
  const wholes: readonly (readonly [string, (a: bigint, b: bigint) => bigint | string])[] = [
    ["_+_", (a, b) => a + b],
    ["_-_", (a, b) => a - b],
    ["_*_", (a, b) => a * b],
    ["_/_", (a, b) => (b === 0n ? "division by zero" : a / b)],
    ["_%_", (a, b) => (b === 0n ? "modulus by zero" : a % b)],
  ];
  const whole = (type: Type, checked: (value: bigint) => Value, read: (value: Value | undefined) => bigint) =>
    wholes.map(([name, run]) =>
      fn(
        name,
        [type, type],
        [
          type,
          ([a, b]) => {
            const result = run(read(a), read(b));
            return typeof result === "string" ? failure(result) : checked(result);
          },
        ],
      ),
    );
  return [
    ...doubles.map(([name, run]) =>
      fn(name, [DOUBLE, DOUBLE], [DOUBLE, ([a, b]) => run(doubleArg(a), doubleArg(b))]),
    ),
    ...whole(INT, checkedInt, intArg),
    ...whole(UINT, checkedUint, (value) => taggedArg(value, "uint").value),
  ];
}

function sortable(value: Value): number | bigint | string | undefined {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string") return value;
  if (isTagged(value, "duration") || isTagged(value, "timestamp")) return value.nanos;
  if (isTagged(value, "bytes")) return Buffer.from(value.bytes).toString("latin1");
  return numeric(value);
}

/** By code points, as Go orders UTF-8; JavaScript orders UTF-16. */
function orderOfTexts(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function hasKey(map: Value, key: Value): boolean {
  return entryOf(map, key) !== undefined;
}

function itemAt(list: ListValue, index: Value): Value {
  const found = entryOf(list, index);
  return found === undefined ? failure(`index out of bounds: ${String(numeric(index))}`) : found;
}

function valueAt(map: Value, key: Value): Value {
  const found = entryOf(map, key);
  return found === undefined ? failure(`no such key: ${String(mapKey(key))}`) : found;
}

function joinedBytes(a: Value, b: Value): Value {
  return { kind: "bytes", bytes: Buffer.concat([taggedArg(a, "bytes").bytes, taggedArg(b, "bytes").bytes]) };
}

/** Sets are united; in lists of type map the entries of the second win. */
function joinedLists(a: ListValue, b: ListValue): Value {
  if (a.listType === "atomic") return { ...a, items: [...a.items, ...b.items] };
  const isSame =
    a.listType === "set" ? sameValue : (left: Value, right: Value): boolean => sameKeys(left, right, a.keys);
  const kept = a.items.map((item) => b.items.find((other) => isSame(item, other)) ?? item);
  const added = b.items.filter((item) => !a.items.some((other) => isSame(item, other)));
  return { ...a, items: [...kept, ...added] };
}

function nanos(value: Value | undefined): bigint {
  const found = anyArg(value);
  return isTagged(found, "timestamp") ? found.nanos : taggedArg(found, "duration").nanos;
}

function duration(value: bigint): Value {
  return value > MAX_INT || value < MIN_INT
    ? failure("duration overflow")
    : { kind: "duration", nanos: value };
}

function timestamp(value: bigint): Value {
  return { kind: "timestamp", nanos: value };
}
