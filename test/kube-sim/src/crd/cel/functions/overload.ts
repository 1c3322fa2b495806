import { type Type, typeText } from "../types.ts";
import { isTagged, type ListValue, type Tagged, type Value } from "../values.ts";

/** One signature of a function or of a method, whose receiver is its first parameter. */
export interface Overload {
  readonly name: string;
  readonly isMethod: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  /** Called with values of the types it asks for. */
  readonly run: (args: readonly Value[]) => Value;
}

type Run = Overload["run"];

export function fn(name: string, params: readonly Type[], [result, run]: readonly [Type, Run]): Overload {
  return { name, isMethod: false, params, result, run };
}

export function method(name: string, params: readonly Type[], [result, run]: readonly [Type, Run]): Overload {
  return { name, isMethod: true, params, result, run };
}

/** Whether a value that only now is known has the type that an overload asks for. */
export function fits(type: Type, value: Value): boolean {
  switch (type.kind) {
    case "param":
    case "dyn":
      return true;
    case "bool":
      return typeof value === "boolean";
    case "int":
      return typeof value === "bigint";
    case "double":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "null":
      return value === null;
    case "list":
      return isTagged(value, "list") && firstFits(type.item, value);
    default:
      return isTagged(value, type.kind);
  }
}

function firstFits(type: Type, list: ListValue): boolean {
  const [first] = list.items;
  return first === undefined || fits(type, first);
}

export function textArg(value: Value | undefined): string {
  return typeof value === "string" ? value : unreachable("string");
}

export function intArg(value: Value | undefined): bigint {
  return typeof value === "bigint" ? value : unreachable("int");
}

export function doubleArg(value: Value | undefined): number {
  return typeof value === "number" ? value : unreachable("double");
}

export function taggedArg<Kind extends Tagged["kind"]>(
  value: Value | undefined,
  kind: Kind,
): Extract<Tagged, { kind: Kind }> {
  return value !== undefined && isTagged(value, kind) ? value : unreachable(kind);
}

export function anyArg(value: Value | undefined): Value {
  return value === undefined ? unreachable("value") : value;
}

/** Overloads are chosen by the types of their arguments, so this is a mistake in this package. */
function unreachable(wanted: string): never {
  throw new TypeError(`a function was called without the ${wanted} its signature asks for`);
}

/** `string.(int)`, as messages show the arguments of a call. */
export function argumentsText(isMethod: boolean, types: readonly Type[]): string {
  const texts = types.map(typeText);
  if (!isMethod) return `(${texts.join(", ")})`;
  const [receiver = "", ...rest] = texts;
  return `${receiver}.(${rest.join(", ")})`;
}
