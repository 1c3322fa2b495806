import type { ResourceDefinition } from "../../api/definition.ts";
import type { JsonObject } from "../../json.ts";
import { isObject, objectAt, own, stringsAt } from "../../json-access.ts";

/** How server-side apply treats a value: as one thing, or field by field, item by item. */
export interface Shape {
  readonly list: ListShape;
  /** True: an object here is replaced as a whole. */
  readonly isAtomic: boolean;
  readonly field: (name: string) => Shape;
  readonly item: () => Shape;
}

export type ListShape =
  | { readonly kind: "atomic" }
  | { readonly kind: "set" }
  | { readonly kind: "map"; readonly keys: readonly string[]; readonly defaults: JsonObject };

const ATOMIC: ListShape = { kind: "atomic" };
const NOTHING: JsonObject = {};

/** By the schema's `x-kubernetes-list-type`, or, where there is none, by the merge keys; else lists are atomic. */
export function shapeOf({ schema, mergeKeys = {} }: ResourceDefinition): Shape {
  return shapeAt(schema ?? NOTHING, "", mergeKeys);
}

function shapeAt(schema: JsonObject, path: string, mergeKeys: Readonly<Record<string, string>>): Shape {
  return {
    list: listShape(schema, path, mergeKeys),
    isAtomic: schema["x-kubernetes-map-type"] === "atomic",
    field: (name) => shapeAt(fieldSchema(schema, name), path === "" ? name : `${path}.${name}`, mergeKeys),
    item: () => shapeAt(objectAt(schema, "items"), path, mergeKeys),
  };
}

function fieldSchema(schema: JsonObject, name: string): JsonObject {
  const field = own(objectAt(schema, "properties"), name);
  return isObject(field) ? field : objectAt(schema, "additionalProperties");
}

function listShape(schema: JsonObject, path: string, mergeKeys: Readonly<Record<string, string>>): ListShape {
  if (path === "metadata.ownerReferences") return { kind: "map", keys: ["uid"], defaults: NOTHING };
  if (path === "metadata.finalizers") return { kind: "set" };
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return { kind: "set" };
  if (type === "map") {
    const keys = stringsAt(schema, "x-kubernetes-list-map-keys");
    return { kind: "map", keys, defaults: defaultsOf(schema, keys) };
  }
  const key = type === undefined ? own(mergeKeys, path) : undefined;
  return key === undefined ? ATOMIC : { kind: "map", keys: [key], defaults: NOTHING };
}

/** A key may be left out of an item where the schema has a default for it, as `protocol: TCP` of a port. */
function defaultsOf(schema: JsonObject, keys: readonly string[]): JsonObject {
  const properties = objectAt(objectAt(schema, "items"), "properties");
  const known = keys.flatMap((key) => {
    const { default: value } = objectAt(properties, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(known);
}
