import type { ResourceDefinition } from "../../api/cluster-api.ts";
import { badRequest } from "../../api/statuses.ts";
import {
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  objectAt,
  own,
  stringsAt,
  textOf,
} from "../../json.ts";

/**
 * The way to a field: its steps, each with a mark before it, written as in FieldsV1: `f:name`, `k:{"name":"a"}`,
 * `v:"x"`. The empty path is the object itself.
 */
export type Path = string;
export type FieldSet = ReadonlySet<Path>;

export function union(a: FieldSet, b: FieldSet): FieldSet {
  return new Set([...a, ...b]);
}

export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return new Set([...a].filter((path) => !b.has(path)));
}

const MARK = "\0";

export function pathTo(path: Path, step: string): Path {
  return `${path}${MARK}${step}`;
}

export function stepsOf(path: Path): readonly string[] {
  return path.split(MARK).slice(1);
}

export function isBelow(path: Path, above: Path): boolean {
  return path.startsWith(`${above}${MARK}`);
}

/** `.spec.containers[name="a"].image`. */
export function pathText(path: Path): string {
  return stepsOf(path).map(stepText).join("");
}

function stepText(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith("f:")) return `.${rest}`;
  if (step.startsWith("v:")) return `[=${rest}]`;
  const named = Object.entries(keysIn(step)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `[${named.join(",")}]`;
}

/** The fields that make the step of an item, with their values; none for other steps. */
export function keysIn(step: string): object {
  const keys: unknown = step.startsWith("k:") ? JSON.parse(step.slice(2)) : undefined;
  return typeof keys === "object" && keys !== null ? keys : {};
}

/** As `fieldsV1`: an empty object is a member, a dot marks a place that is one beside what lies below it. */
export function toFieldsV1(fields: FieldSet): JsonObject {
  return treeOf([...fields].toSorted().map(stepsOf));
}

function treeOf(paths: readonly (readonly string[])[]): JsonObject {
  const steps = [...new Set(paths.flatMap(([step]) => step ?? []))];
  const below = (step: string) => paths.filter(([first]) => first === step).map((path) => path.slice(1));
  const isMember = steps.length > 0 && paths.some((path) => path.length === 0);
  return {
    ...(isMember ? { ".": {} } : {}),
    ...Object.fromEntries(steps.map((step) => [step, treeOf(below(step))])),
  };
}

export function fromFieldsV1(tree: JsonObject, path: Path = ""): FieldSet {
  const below = Object.entries(tree).flatMap(([step, child]) => {
    if (step === "." || !isObject(child)) return [];
    const at = pathTo(path, step);
    const isMember = Object.keys(child).length === 0 || child["."] !== undefined;
    return [...(isMember ? [at] : []), ...fromFieldsV1(child, at)];
  });
  return new Set(below);
}

/** How server-side apply treats a value: as one thing, or field by field, item by item. */
export interface Shape {
  readonly list: ListShape;
  /** True: an object here is replaced as a whole. */
  readonly isAtomic: boolean;
  /** Of the field or the item that a step leads to. */
  readonly at: (step: string) => Shape;
}

/** By which fields the items of a list are known; "value": by themselves; undefined: the list is one thing. */
type ListShape = { readonly keys: readonly string[]; readonly defaults: JsonObject } | "value" | undefined;

type MergeKeys = Readonly<Record<string, string>>;

/** By the schema's `x-kubernetes-list-type`, or, where there is none, by the merge keys; else lists are atomic. */
export function shapeOf({ schema = {}, mergeKeys = {} }: ResourceDefinition): Shape {
  return shapeAt(schema, "", mergeKeys);
}

function shapeAt(schema: JsonObject, path: string, mergeKeys: MergeKeys): Shape {
  return {
    list: listShape(schema, path, mergeKeys),
    isAtomic: schema["x-kubernetes-map-type"] === "atomic",
    at: (step) => {
      if (!step.startsWith("f:")) return shapeAt(objectAt(schema, "items"), path, mergeKeys);
      const name = step.slice(2);
      const field = own(objectAt(schema, "properties"), name);
      const below = isObject(field) ? field : objectAt(schema, "additionalProperties");
      return shapeAt(below, path === "" ? name : `${path}.${name}`, mergeKeys);
    },
  };
}

function listShape(schema: JsonObject, path: string, mergeKeys: MergeKeys): ListShape {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set" || path === "metadata.finalizers") return "value";
  if (type === "map") {
    const keys = stringsAt(schema, "x-kubernetes-list-map-keys");
    return { keys, defaults: defaultsOf(objectAt(schema, "items.properties"), keys) };
  }
  const key = path === "metadata.ownerReferences" ? "uid" : own(mergeKeys, path);
  return key === undefined || type !== undefined ? undefined : { keys: [key], defaults: {} };
}

/** A key may be left out of an item where the schema has a default for it, as `protocol: TCP` of a port. */
function defaultsOf(properties: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, objectAt(properties, key)["default"]]));
}

/** The parts of a value that are looked at one by one, by their steps; undefined: the value is one thing. */
export function partsOf(value: JsonValue, shape: Shape): ReadonlyMap<string, JsonValue> | undefined {
  if (isList(value)) return shape.list === undefined ? undefined : itemsOf(value, shape.list);
  if (!isObject(value) || shape.isAtomic) return undefined;
  return new Map(
    Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [[`f:${name}`, field]])),
  );
}

/** A step that comes twice is refused, because nobody could say whose it is. */
function itemsOf(
  list: readonly JsonValue[],
  shape: Exclude<ListShape, undefined>,
): ReadonlyMap<string, JsonValue> {
  const items = new Map<string, JsonValue>();
  for (const item of list) {
    const step = shape === "value" ? `v:${JSON.stringify(item)}` : `k:${JSON.stringify(keyOf(item, shape))}`;
    if (items.has(step)) throw badRequest(`duplicate entries for key [${step.slice(2)}]`);
    items.set(step, item);
  }
  return items;
}

function keyOf(item: JsonValue, { keys, defaults }: Exclude<ListShape, "value" | undefined>): JsonObject {
  const problem = "associative list with keys has an element that";
  if (!isObject(item)) throw badRequest(`${problem} is no map: ${textOf(item)}`);
  const named = keys.toSorted().map((key) => [key, own(item, key) ?? own(defaults, key)] as const);
  if (named.every(([, value]) => value === undefined)) {
    const key = JSON.stringify(keys[0] ?? "");
    throw badRequest(`${problem} omits key field ${key} (and doesn't have default value)`);
  }
  return Object.fromEntries(named);
}

/** Every field a value has, with what stands there. An item is one itself: whoever owns it keeps it in the list. */
export function fieldsOf(value: JsonValue, shape: Shape, path: Path = ""): ReadonlyMap<Path, JsonValue> {
  const parts = partsOf(value, shape);
  if (parts === undefined || parts.size === 0) return new Map(path === "" ? [] : [[path, value]]);
  return new Map(
    [...parts].flatMap(([step, part]) => {
      const at = pathTo(path, step);
      const below = fieldsOf(part, shape.at(step), at);
      return step.startsWith("f:") || below.has(at) ? [...below] : [[at, null] as const, ...below];
    }),
  );
}
