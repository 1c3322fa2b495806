import { A, BOOL, optionalOf } from "../types.ts";
import { failure, type Value } from "../values.ts";
import { anyArg, fn, method, type Overload, taggedArg } from "./overload.ts";

const MAYBE = optionalOf(A);

export const OPTIONALS: readonly Overload[] = [
  fn("optional.of", [A], [MAYBE, ([value]) => ({ kind: "optional", value: anyArg(value) })]),
  fn("optional.none", [], [MAYBE, () => ({ kind: "optional", value: undefined })]),
  fn("optional.ofNonZeroValue", [A], [MAYBE, ([value]) => ofNonZero(anyArg(value))]),
  method("hasValue", [MAYBE], [BOOL, ([maybe]) => taggedArg(maybe, "optional").value !== undefined]),
  method("value", [MAYBE], [A, ([maybe]) => valueOr(maybe, failure("optional.none() dereference"))]),
  method(
    "or",
    [MAYBE, MAYBE],
    [
      MAYBE,
      ([maybe, other]) => (taggedArg(maybe, "optional").value === undefined ? anyArg(other) : anyArg(maybe)),
    ],
  ),
  method("orValue", [MAYBE, A], [A, ([maybe, other]) => valueOr(maybe, anyArg(other))]),
];

function valueOr(maybe: Value | undefined, other: Value): Value {
  const { value } = taggedArg(maybe, "optional");
  return value === undefined ? other : value;
}

function ofNonZero(value: Value): Value {
  return { kind: "optional", value: isZero(value) ? undefined : value };
}

function isZero(value: Value): boolean {
  if (typeof value !== "object") return value === false || value === 0n || value === 0 || value === "";
  if (value === null) return true;
  switch (value.kind) {
    case "list":
      return value.items.length === 0;
    case "map":
      return value.entries.size === 0;
    case "object":
      return Object.keys(value.raw).length === 0;
    case "uint":
      return value.value === 0n;
    case "bytes":
      return value.bytes.length === 0;
    case "duration":
      return value.nanos === 0n;
    default:
      return false;
  }
}
