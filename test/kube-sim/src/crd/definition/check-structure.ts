import type { Cause } from "../../api/definition.ts";
import { isList, isObject } from "../../core/look.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { forbidden, invalid, required } from "../causes.ts";
import { compileRe2 } from "../re2/compile-re2.ts";
import { sameJson } from "../same-json.ts";
import { text } from "../schema.ts";
import { allNodes, innerNodes, nestedNodes, type SchemaNode } from "./schema-walk.ts";

const INT_OR_STRING: JsonValue = [{ type: "integer" }, { type: "string" }];
const EMPTY_TYPE: Readonly<Record<SchemaNode["level"], string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};
/** Words that say what a value is, and so cannot stand in `anyOf` and its like. */
const NOT_NESTED: readonly (readonly [word: string, says: string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

/** A structural schema says of every value what it is, outside of `anyOf` and its like. */
export function structureCauses(root: SchemaNode): Cause[] {
  const causes = [...allNodes(root).flatMap(nodeCauses), ...completenessCauses(root)];
  return causes.sort((a, b) => (`${a.field}: ${a.message}` < `${b.field}: ${b.message}` ? -1 : 1));
}

function nodeCauses(node: SchemaNode): Cause[] {
  const { raw, path, level } = node;
  return [
    ...(raw["type"] === "array" && raw["items"] === undefined
      ? [required(`${path}.items`, "must be specified")]
      : []),
    ...(level === "root" && raw["additionalProperties"] !== undefined
      ? [forbidden(`${path}.additionalProperties`, "must not be used at the root")]
      : []),
    ...intOrStringCauses(node),
    ...typeCauses(node),
    ...embeddedCauses(node),
    ...metaCauses(node),
    ...patternCauses(node),
    ...nestedNodes(node)
      .filter((nested) => !isIntOrStringPart(raw, nested))
      .flatMap((nested) => nestedCauses(nested, raw)),
  ];
}

function intOrStringCauses({ raw, path }: SchemaNode): Cause[] {
  if (raw["x-kubernetes-int-or-string"] !== true) return [];
  return ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"]
    .filter((word) => raw[word] === true)
    .map((word) => invalid(`${path}.${word}`, true, "must be false if x-kubernetes-int-or-string is true"));
}

function typeCauses({ raw, path, level }: SchemaNode): Cause[] {
  const type = text(raw["type"]);
  const place = `${path}.type`;
  if (raw["x-kubernetes-embedded-resource"] === true && type !== "object") {
    const says = "must be object if x-kubernetes-embedded-resource is true";
    return [type === "" ? required(place, says) : invalid(place, type, says)];
  }
  const needsNone =
    raw["x-kubernetes-int-or-string"] === true || raw["x-kubernetes-preserve-unknown-fields"] === true;
  if (type === "" && !needsNone) return [required(place, EMPTY_TYPE[level])];
  return level === "root" && type !== "" && type !== "object"
    ? [invalid(place, type, "must be object at the root")]
    : [];
}

function embeddedCauses({ raw, path }: SchemaNode): Cause[] {
  if (raw["x-kubernetes-embedded-resource"] !== true) return [];
  const causes: Cause[] = [];
  if (raw["additionalProperties"] !== undefined) {
    const says = "must not be used if x-kubernetes-embedded-resource is set";
    causes.push(forbidden(`${path}.additionalProperties`, says));
  }
  const { properties } = raw;
  const isEmpty = !isObject(properties) || Object.keys(properties).length === 0;
  if (isEmpty && raw["x-kubernetes-preserve-unknown-fields"] !== true) {
    const says =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    causes.push(required(`${path}.properties`, says));
  }
  return causes;
}

/** Of its type and its metadata an object may restrict the name only. */
function metaCauses({ raw, path, level }: SchemaNode): Cause[] {
  const { properties } = raw;
  const isResource = level === "root" || raw["x-kubernetes-embedded-resource"] === true;
  if (!isResource || !isObject(properties)) return [];
  const causes = ["kind", "apiVersion"].flatMap((name) => {
    const field = properties[name];
    const type = isObject(field) ? text(field["type"]) : "string";
    return type === "string" ? [] : [invalid(`${path}.properties[${name}].type`, type, "must be string")];
  });
  const { metadata } = properties;
  if (!isObject(metadata)) return causes;
  const place = `${path}.properties[metadata]`;
  if (metadata["type"] !== "object")
    causes.push(invalid(`${place}.type`, text(metadata["type"]), "must be object"));
  if (level === "root" && !restrictsNameOnly(metadata)) {
    const says =
      "must not specify anything other than name and generateName, but metadata is implicitly specified";
    causes.push(forbidden(place, says));
  }
  return causes;
}

function restrictsNameOnly(metadata: JsonObject): boolean {
  const { type: _type, properties, default: _default, ...rest } = metadata;
  const names = isObject(properties) ? Object.keys(properties) : [];
  return Object.keys(rest).length === 0 && names.every((name) => name === "name" || name === "generateName");
}

function patternCauses({ raw, path }: SchemaNode): Cause[] {
  const pattern = text(raw["pattern"]);
  const compiled = compileRe2(pattern);
  if (compiled.ok) return [];
  const says = `must be a valid regular expression, but isn't: ${compiled.problem}`;
  return [invalid(`${path}.pattern`, pattern, says)];
}

/** `anyOf: [{type: integer}, {type: string}]` is the one way to nest types, alone or first in an `allOf`. */
function isIntOrStringPart(raw: JsonObject, nested: SchemaNode): boolean {
  return /\.anyOf\[\d+\]$/.test(nested.path) && sameJson(raw["anyOf"] ?? null, INT_OR_STRING);
}

function nestedCauses(node: SchemaNode, parent: JsonObject): Cause[] {
  const { raw, path } = node;
  const { properties } = raw;
  const isFirstOfAll = isList(parent["allOf"]) && parent["allOf"][0] === raw;
  const words = NOT_NESTED.filter(([word]) => isSet(raw[word])).map(([word, says]) =>
    forbidden(`${path}.${word}`, says),
  );
  const metadata =
    isObject(properties) && properties["metadata"] !== undefined
      ? [forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context")]
      : [];
  const deeper = nestedNodes(node).filter((nested) => !(isFirstOfAll && isIntOrStringPart(raw, nested)));
  return [
    ...words,
    ...metadata,
    ...patternCauses(node),
    ...[...innerNodes(node), ...deeper].flatMap((inner) => nestedCauses(inner, raw)),
  ];
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== false && value !== "" && !(isList(value) && value.length === 0);
}

/** A field that only `anyOf` and its like know would be dropped before they can look at it. */
function completenessCauses(root: SchemaNode): Cause[] {
  return nestedNodes(root).flatMap((nested) => missingParts(nested, root));
}

function missingParts(nested: SchemaNode, known: SchemaNode): Cause[] {
  const ofKnown = new Map(innerNodes(known).map((node) => [node.path.slice(known.path.length), node]));
  const inner = innerNodes(nested)
    .filter(({ path }) => !path.endsWith(".additionalProperties"))
    .flatMap((node) => {
      const place = node.path.slice(nested.path.length);
      const counterpart = ofKnown.get(place);
      if (counterpart !== undefined) return missingParts(node, counterpart);
      return [required(`${known.path}${place}`, `because it is defined in ${node.path}`)];
    });
  return [...inner, ...nestedNodes(nested).flatMap((deeper) => missingParts(deeper, known))];
}
