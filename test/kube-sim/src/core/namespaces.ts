import type { ResourceDefinition } from "../api/definition.ts";
import type { JsonObject } from "../json.ts";
import { admitWith } from "./admit-with.ts";
import { builtIn } from "./built-in.ts";
import { AGE, column, textOr } from "./columns.ts";
import { nameOf, objectAt } from "./look.ts";
import { NAMESPACE_SCHEMA } from "./schema/small-kinds.ts";

export const NAMESPACES: ResourceDefinition = builtIn({
  kind: "Namespace",
  plural: "namespaces",
  shortNames: ["ns"],
  isNamespaced: false,
  hasStatus: true,
  schema: NAMESPACE_SCHEMA,
  complete,
  columns: [column("Status", textOr("status.phase"), "Active, or Terminating while it empties."), AGE],
  selectable: ["status.phase"],
});

/** The same kind for the one path that may change what holds a namespace: `namespaces/<name>/finalize`. */
export const NAMESPACES_TO_FINALIZE: ResourceDefinition = {
  ...NAMESPACES,
  admit: admitWith({
    schema: NAMESPACE_SCHEMA,
    complete: (object) => completeWith(object, objectAt(object, "spec")),
  }),
};

function complete(object: JsonObject, old: JsonObject | undefined): JsonObject {
  return completeWith(object, old === undefined ? { finalizers: ["kubernetes"] } : objectAt(old, "spec"));
}

function completeWith(object: JsonObject, spec: JsonObject): JsonObject {
  const metadata = objectAt(object, "metadata");
  const labels = { ...objectAt(metadata, "labels"), "kubernetes.io/metadata.name": nameOf(object) };
  return {
    ...object,
    metadata: { ...metadata, labels },
    spec,
    status: { phase: "Active", ...objectAt(object, "status") },
  };
}
