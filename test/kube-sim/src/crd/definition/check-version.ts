import type { Cause } from "../../api/definition.ts";
import { isList, isObject, objectAt } from "../../core/look.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { duplicate, forbidden, invalid, required, tooMany } from "../causes.ts";
import { readFieldPath } from "../field-path.ts";
import { readJsonPath } from "../json-path.ts";
import { sameJson } from "../same-json.ts";
import { objects, readSchema, text } from "../schema.ts";
import { defaultCauses, defaultRuleCauses } from "./check-defaults.ts";
import { keywordCauses } from "./check-keywords.ts";
import { ruleCauses, ruleTextCauses } from "./check-rules.ts";
import { structureCauses } from "./check-structure.ts";
import type { SchemaNode } from "./schema-walk.ts";

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const MAX_SELECTABLE_FIELDS = 8;
/** Words that would be lost when status is judged alone. */
const NOT_BESIDE_STATUS = [
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "enum",
  "default",
  "minProperties",
  "maxProperties",
];

/**
 * The entries of `spec.versions`. What all of them have alike, Kubernetes keeps once for all, and that is where its
 * messages point: `spec.validation` and not `spec.versions[0].schema`.
 */
export function versionsCauses(versions: readonly JsonObject[]): Cause[] {
  return PARTS.flatMap(({ word, shared, causes }) => {
    const [first] = versions;
    const isShared = first !== undefined && versions.every((version) => sameJson(version[word], first[word]));
    if (first !== undefined && isShared && isObjectOrList(first[word])) return causes(first, shared);
    return versions.flatMap((version, index) => causes(version, `spec.versions[${index}].${word}`));
  });
}

interface Part {
  readonly word: string;
  readonly shared: string;
  readonly causes: (version: JsonObject, path: string) => Cause[];
}

const PARTS: readonly Part[] = [
  { word: "schema", shared: "spec.validation", causes: versionSchemaCauses },
  { word: "subresources", shared: "spec.subresources", causes: subresourceCauses },
  { word: "additionalPrinterColumns", shared: "spec.additionalPrinterColumns", causes: columnsCauses },
  { word: "selectableFields", shared: "spec.selectableFields", causes: selectableCauses },
];

function isObjectOrList(value: JsonValue | undefined): boolean {
  return isObject(value) || isList(value);
}

function versionSchemaCauses(version: JsonObject, path: string): Cause[] {
  const raw = objectAt(version, "schema")["openAPIV3Schema"];
  if (!isObject(raw)) return [required(`${path}.openAPIV3Schema`)];
  const root: SchemaNode = { raw, path: `${path}.openAPIV3Schema`, level: "root" };
  return schemaCauses(root, hasStatus(version));
}

function columnsCauses(version: JsonObject, path: string): Cause[] {
  return objects(version["additionalPrinterColumns"]).flatMap((column, index) =>
    columnCauses(column, `${path}[${index}]`),
  );
}

function schemaCauses(root: SchemaNode, isBesideStatus: boolean): Cause[] {
  const atRoot = isBesideStatus ? rootCauses(root) : [];
  if (root.raw["nullable"] === true) {
    atRoot.push(forbidden(`${root.path}.nullable`, "nullable cannot be true at the root"));
  }
  const structure = structureCauses(root);
  // A schema that is not structural says too little to judge defaults and rules by.
  const defaults = structure.length > 0 ? [] : defaultCauses(root);
  const words = [...atRoot, ...structure, ...defaults, ...keywordCauses(root), ...ruleTextCauses(root)];
  if (words.length > 0) return words;
  const rules = ruleCauses(root);
  return rules.length > 0 ? rules : defaultRuleCauses(root);
}

function rootCauses({ raw, path }: SchemaNode): Cause[] {
  const words = NOT_BESIDE_STATUS.filter((word) => raw[word] !== undefined);
  if (words.length === 0) return [];
  const says = `${words.join(", ")}: not allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, undefined, says)];
}

function hasStatus(version: JsonObject): boolean {
  return objectAt(version, "subresources")["status"] !== undefined;
}

function subresourceCauses(version: JsonObject, path: string): Cause[] {
  const isScaled = objectAt(version, "subresources")["scale"] !== undefined;
  return isScaled ? [forbidden(`${path}.scale`, "kube-sim does not serve the scale subresource")] : [];
}

function columnCauses(column: JsonObject, path: string): Cause[] {
  const causes: Cause[] = [];
  if (text(column["name"]) === "") causes.push(required(`${path}.name`));
  const type = text(column["type"]);
  const types = `must be one of ${COLUMN_TYPES.join(",")}`;
  if (type === "") causes.push(required(`${path}.type`, types));
  else if (!COLUMN_TYPES.includes(type)) causes.push(invalid(`${path}.type`, type, types));
  const format = text(column["format"]);
  if (format !== "" && !COLUMN_FORMATS.includes(format)) {
    causes.push(invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`));
  }
  return [...causes, ...pathCauses(text(column["jsonPath"]), `${path}.JSONPath`)];
}

function pathCauses(jsonPath: string, place: string): Cause[] {
  if (jsonPath === "") return [required(place)];
  if (!jsonPath.startsWith("."))
    return [invalid(place, jsonPath, "must be a simple json path starting with .")];
  const read = readJsonPath(jsonPath);
  return read.ok ? [] : [invalid(place, jsonPath, read.problem)];
}

function selectableCauses(version: JsonObject, path: string): Cause[] {
  const fields = objects(version["selectableFields"]);
  if (fields.length === 0) return [];
  const schema = readSchema(objectAt(version, "schema.openAPIV3Schema"));
  const seen = new Set<string>();
  const causes = fields.flatMap((field, index) => {
    const jsonPath = text(field["jsonPath"]);
    const place = `${path}[${index}].jsonPath`;
    if (jsonPath === "") return [required(place)];
    const read = readFieldPath(jsonPath, schema, false);
    if (!read.ok) return [invalid(place, jsonPath, `is an invalid path: ${read.problem}`)];
    const isKnown = seen.has(read.path);
    seen.add(read.path);
    return [
      ...(read.names[0] === "metadata"
        ? [invalid(place, jsonPath, "must not point to fields in metadata")]
        : []),
      ...(["string", "boolean", "integer"].includes(read.schema.type)
        ? []
        : [invalid(place, jsonPath, SELECTABLE)]),
      ...(isKnown ? [duplicate(place, jsonPath)] : []),
    ];
  });
  return seen.size > MAX_SELECTABLE_FIELDS
    ? [...causes, tooMany(path, seen.size, MAX_SELECTABLE_FIELDS)]
    : causes;
}

const SELECTABLE =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
