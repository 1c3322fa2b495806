import type { Cause } from "../../api/definition.ts";
import { isList, isObject } from "../../core/look.ts";
import type { JsonObject } from "../../json.ts";
import { forbidden, invalid, notSupported, required } from "../causes.ts";
import { text, texts } from "../schema.ts";
import { isMissingFormat } from "../validate/formats.ts";
import { innerNodes, nestedNodes, type SchemaNode } from "./schema-walk.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
/** Words of JSON schema that definitions cannot use. */
const UNSUPPORTED = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
const META_FIELDS: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

interface Place {
  /** Why there can be no defaults here; "": they can be. */
  readonly noDefaults: string;
  readonly isInMeta: boolean;
}

/** Each word of the schema on its own. */
export function keywordCauses(root: SchemaNode): Cause[] {
  return walk(root, { noDefaults: "", isInMeta: false });
}

function walk(node: SchemaNode, place: Place): Cause[] {
  const inner = innerNodes(node).flatMap((child) => walk(child, placeInside(node, child, place)));
  const nested = nestedNodes(node).flatMap((child) => walk(child, place));
  return [...wordCauses(node, place), ...shapeCauses(node), ...listCauses(node), ...inner, ...nested];
}

function placeInside({ raw, path, level }: SchemaNode, child: SchemaNode, place: Place): Place {
  const isMap = child.path === `${path}.additionalProperties`;
  if (isMap && place.isInMeta) {
    return { ...place, noDefaults: "inside additionalProperties applying to object metadata" };
  }
  const name = child.path.slice(`${path}.properties[`.length, -1);
  const isResource = level === "root" || raw["x-kubernetes-embedded-resource"] === true;
  if (!isResource || !child.path.startsWith(`${path}.properties[`) || !META_FIELDS.has(name)) return place;
  return { isInMeta: true, noDefaults: level === "root" ? `in top-level ${name}` : place.noDefaults };
}

function wordCauses({ raw, path }: SchemaNode, { noDefaults, isInMeta }: Place): Cause[] {
  const causes: Cause[] = UNSUPPORTED.filter((word) => raw[word] !== undefined).map((word) =>
    forbidden(`${path}.${word}`, `${word} is not supported`),
  );
  const type = text(raw["type"]);
  if (type === "null") {
    causes.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  }
  if (type !== "" && !TYPES.includes(type)) causes.push(notSupported(`${path}.type`, type, TYPES));
  if (raw["default"] !== undefined && noDefaults !== "") {
    causes.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`));
  }
  if (isList(raw["items"])) {
    causes.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  }
  if (isInMeta && raw["x-kubernetes-embedded-resource"] === true) {
    causes.push(
      forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"),
    );
  }
  if (isMissingFormat(text(raw["format"]))) {
    causes.push(invalid(`${path}.format`, text(raw["format"]), "kube-sim does not check this format"));
  }
  return causes;
}

function shapeCauses({ raw, path }: SchemaNode): Cause[] {
  const causes: Cause[] = [];
  if (raw["uniqueItems"] === true) {
    const says = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    causes.push(forbidden(`${path}.uniqueItems`, says));
  }
  const { properties, additionalProperties: additional } = raw;
  const hasFields = isObject(properties) && Object.keys(properties).length > 0;
  if (hasFields && additional !== undefined && additional !== true) {
    causes.push(
      forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  }
  if (raw["x-kubernetes-preserve-unknown-fields"] === false) {
    causes.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  return [...causes, ...kindCauses({ raw, path, word: "x-kubernetes-map-type", type: "object" })];
}

/** A word that needs values of one type. */
function kindCauses({
  raw,
  path,
  word,
  type,
}: {
  raw: JsonObject;
  path: string;
  word: string;
  type: string;
}): Cause[] {
  const found = text(raw[word]);
  if (raw[word] === undefined) return [];
  const allowed = type === "object" ? ["atomic", "granular"] : ["atomic", "set", "map"];
  const causes = allowed.includes(found) ? [] : [notSupported(`${path}.${word}`, found, allowed)];
  const given = text(raw["type"]);
  if (given === type) return causes;
  const says = `must be ${type} if ${word} is specified`;
  return [given === "" ? required(`${path}.type`, says) : invalid(`${path}.type`, given, says), ...causes];
}

function listCauses({ raw, path }: SchemaNode): Cause[] {
  const listType = text(raw["x-kubernetes-list-type"]);
  const keys = texts(raw["x-kubernetes-list-map-keys"]);
  const items = isObject(raw["items"]) ? raw["items"] : undefined;
  return [
    ...kindCauses({ raw, path, word: "x-kubernetes-list-type", type: "array" }),
    ...(keys.length > 0 && listType !== "map"
      ? [keysWithoutMap(listType, `${path}.x-kubernetes-list-type`)]
      : []),
    ...(listType === "set" && items !== undefined ? setCauses(items, path) : []),
    ...(listType === "map" ? mapCauses({ path, keys, items }) : []),
    ...nullCauses({ listType, items, path }),
  ];
}

function keysWithoutMap(listType: string, place: string): Cause {
  const says = "must be map if x-kubernetes-list-map-keys is non-empty";
  return listType === "" ? required(place, says) : invalid(place, listType, says);
}

function nullCauses({
  listType,
  items,
  path,
}: {
  listType: string;
  items: JsonObject | undefined;
  path: string;
}): Cause[] {
  if ((listType !== "set" && listType !== "map") || items?.["nullable"] !== true) return [];
  return [
    forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
  ];
}

/** Only whole items can be compared. */
function setCauses(items: JsonObject, path: string): Cause[] {
  const says = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const word = items["type"] === "array" ? "x-kubernetes-list-type" : "x-kubernetes-map-type";
  const found = items[word];
  const isFine = items["type"] === "array" ? found === undefined || found === "atomic" : found === "atomic";
  const isWhole = items["type"] !== "array" && items["type"] !== "object";
  return isWhole || isFine ? [] : [invalid(`${path}.items.${word}`, found ?? null, says)];
}

function mapCauses({
  path,
  keys,
  items,
}: {
  path: string;
  keys: readonly string[];
  items: JsonObject | undefined;
}): Cause[] {
  const place = `${path}.x-kubernetes-list-map-keys`;
  const causes: Cause[] = [];
  if (keys.length === 0) causes.push(required(place, "must not be empty if x-kubernetes-list-type is map"));
  if (items === undefined) {
    return [...causes, required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map")];
  }
  if (items["type"] !== "object") {
    const says = "must be object if parent array's x-kubernetes-list-type is map";
    return [...causes, invalid(`${path}.items.type`, text(items["type"]), says)];
  }
  if (new Set(keys).size !== keys.length)
    causes.push(invalid(place, [...keys], "must not contain duplicate entries"));
  return [...causes, ...keys.flatMap((key) => keyCauses({ path, keys, items, key }))];
}

interface Key {
  readonly path: string;
  readonly keys: readonly string[];
  readonly items: JsonObject;
  readonly key: string;
}

function keyCauses({ path, keys, items, key }: Key): Cause[] {
  const fields = items["properties"];
  const field = isObject(fields) ? fields[key] : undefined;
  const place = `${path}.items.properties[${key}]`;
  if (!isObject(field)) {
    return [
      invalid(
        `${path}.x-kubernetes-list-map-keys`,
        [...keys],
        "entries must all be names of item properties",
      ),
    ];
  }
  const causes: Cause[] = [];
  if (field["type"] === "array" || field["type"] === "object") {
    const says = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    causes.push(invalid(`${place}.type`, "object", says));
  }
  const about = "this property is in x-kubernetes-list-map-keys, so it";
  if (!texts(items["required"]).includes(key) && field["default"] === undefined) {
    causes.push(required(`${place}.default`, `${about} must have a default or be a required property`));
  }
  if (field["nullable"] === true) causes.push(forbidden(`${place}.nullable`, `${about} cannot be nullable`));
  return causes;
}
