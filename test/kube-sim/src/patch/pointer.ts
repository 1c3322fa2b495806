import type { JsonValue } from "../json.ts";
import { isList, isObject, own } from "../json-access.ts";

/** RFC 6901, on values that are never changed in place. Undefined: there is no such place. */
export type Pointer = readonly string[];

export function readPointer(text: string): Pointer | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/u.test(text)) return undefined;
  return text
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function valueAt(root: JsonValue, pointer: Pointer): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const part of pointer) {
    if (isList(value)) value = value[indexOf(part, value.length)];
    else if (isObject(value)) value = own(value, part);
    else return undefined;
  }
  return value;
}

/** With the value added: set in an object, inserted into a list. */
export function added(root: JsonValue, pointer: Pointer, value: JsonValue): JsonValue | undefined {
  return changed(root, pointer, {
    inObject: (_old, name, object) => ({ ...object, [name]: value }),
    inList: (index, list) => (index > list.length ? undefined : list.toSpliced(index, 0, value)),
    atRoot: value,
  });
}

export function replaced(root: JsonValue, pointer: Pointer, value: JsonValue): JsonValue | undefined {
  return changed(root, pointer, {
    inObject: (old, name, object) => (old === undefined ? undefined : { ...object, [name]: value }),
    inList: (index, list) => (index >= list.length ? undefined : list.with(index, value)),
    atRoot: value,
  });
}

export function removed(root: JsonValue, pointer: Pointer): JsonValue | undefined {
  return changed(root, pointer, {
    inObject: (old, name, object) =>
      old === undefined
        ? undefined
        : Object.fromEntries(Object.entries(object).filter(([other]) => other !== name)),
    inList: (index, list) => (index >= list.length ? undefined : list.toSpliced(index, 1)),
    atRoot: undefined,
  });
}

interface Edit {
  readonly inObject: (
    old: JsonValue | undefined,
    name: string,
    object: Readonly<Record<string, JsonValue | undefined>>,
  ) => JsonValue | undefined;
  readonly inList: (index: number, list: readonly JsonValue[]) => JsonValue | undefined;
  readonly atRoot: JsonValue | undefined;
}

function changed(value: JsonValue, pointer: Pointer, edit: Edit): JsonValue | undefined {
  const [part, ...rest] = pointer;
  if (part === undefined) return edit.atRoot;
  if (isList(value)) return changedList(value, indexOf(part, value.length), { rest, edit });
  if (!isObject(value)) return undefined;
  if (rest.length === 0) return edit.inObject(own(value, part), part, value);
  const old = own(value, part);
  const next = old === undefined ? undefined : changed(old, rest, edit);
  return next === undefined ? undefined : { ...value, [part]: next };
}

function changedList(
  list: readonly JsonValue[],
  index: number,
  { rest, edit }: { readonly rest: Pointer; readonly edit: Edit },
): JsonValue | undefined {
  if (Number.isNaN(index)) return undefined;
  if (rest.length === 0) return edit.inList(index, list);
  const old = list[index];
  const next = old === undefined ? undefined : changed(old, rest, edit);
  return next === undefined ? undefined : list.with(index, next);
}

/** `-` is the place after the last; what is no index is NaN. */
function indexOf(part: string, length: number): number {
  if (part === "-") return length;
  return /^(?:0|[1-9]\d*)$/u.test(part) ? Number(part) : Number.NaN;
}
