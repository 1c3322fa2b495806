import type { JsonObject } from "../../json.ts";

/** A CustomResourceDefinition of the kind Thing in example.com/v1; `version` adds to its one version. */
export function definitionWith(schema: JsonObject, version: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things" },
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
      ],
    },
  };
}
