import type { ResourceDefinition } from "../api/definition.ts";
import { objectAt } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { objectAdmission } from "./admit-object.ts";
import { columnsOf } from "./columns.ts";
import { jsonText } from "./go-text.ts";
import { readJsonPath } from "./json-path.ts";
import { publishedSchema } from "./openapi.ts";
import { objects, readSchema, text, texts } from "./schema.ts";

/** The kinds that an admitted CustomResourceDefinition adds: one for each version that is served. */
export function definitionsOf(crd: JsonObject): readonly ResourceDefinition[] {
  const spec = objectAt(crd, "spec");
  return objects(spec["versions"])
    .filter((version) => version["served"] === true)
    .map((version) => definitionOf(spec, version));
}

function definitionOf(spec: JsonObject, raw: JsonObject): ResourceDefinition {
  const names = objectAt(spec, "names");
  const group = text(spec["group"]);
  const version = text(raw["name"]);
  const kind = text(names["kind"]);
  const schema = objectAt(raw, "schema.openAPIV3Schema");
  return {
    group,
    version,
    kind,
    listKind: text(names["listKind"]) || `${kind}List`,
    plural: text(names["plural"]),
    singular: text(names["singular"]) || kind.toLowerCase(),
    shortNames: texts(names["shortNames"]),
    categories: texts(names["categories"]),
    isNamespaced: spec["scope"] === "Namespaced",
    hasStatus: objectAt(raw, "subresources")["status"] !== undefined,
    hasGeneration: true,
    columns: columnsOf(raw),
    admit: objectAdmission(readSchema(schema), { apiVersion: `${group}/${version}`, kind }),
    selectableFields: selectableFieldsOf(raw),
    schema: publishedSchema(schema, { group, version, kind }),
  };
}

function selectableFieldsOf(version: JsonObject): ResourceDefinition["selectableFields"] {
  return Object.fromEntries(
    objects(version["selectableFields"]).map((field) => {
      const path = text(field["jsonPath"]);
      const read = readJsonPath(path);
      const value = (object: JsonObject): string => fieldText(read.ok ? read.find(object)[0] : undefined);
      return [path.replace(/^\./, ""), value] as const;
    }),
  );
}

function fieldText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : jsonText(value);
}
