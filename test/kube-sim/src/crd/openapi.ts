import { isObject } from "../core/look.ts";
import { METADATA } from "../core/schema/metadata.ts";
import type { JsonObject } from "../json.ts";

const API_VERSION: JsonObject = {
  type: "string",
  description: "Group and version of the kind, such as rear.fluidos.eu/v1alpha1.",
};
const KIND: JsonObject = { type: "string", description: "The kind of the object." };

/** The schema as `kubectl explain` reads it: with the fields that every object has, and the kind it is of. */
export function publishedSchema(
  schema: JsonObject,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return {
    ...schema,
    properties: {
      ...properties,
      apiVersion: described(properties["apiVersion"], API_VERSION),
      kind: described(properties["kind"], KIND),
      metadata: METADATA,
    },
    "x-kubernetes-group-version-kind": [{ group: kind.group, version: kind.version, kind: kind.kind }],
  };
}

function described(given: JsonObject[string], otherwise: JsonObject): JsonObject {
  return isObject(given) && given["description"] !== undefined ? given : otherwise;
}
