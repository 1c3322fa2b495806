import type { ResourceDefinition } from "../api/definition.ts";
import type { JsonObject } from "../json.ts";
import { builtIn } from "./built-in.ts";
import { column, textOr } from "./columns.ts";
import { isObject, objectAt, objectsAt, textAt, textsAt } from "./look.ts";
import { DEFINITION_SCHEMA } from "./schema/small-kinds.ts";

export const CUSTOM_RESOURCE_DEFINITIONS: ResourceDefinition = builtIn({
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  isNamespaced: false,
  hasStatus: true,
  hasGeneration: true,
  schema: DEFINITION_SCHEMA,
  complete,
  columns: [column("Created At", textOr("metadata.creationTimestamp", ""), "When the kind was added.")],
});

const CONDITIONS = [
  { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
  {
    type: "Established",
    status: "True",
    reason: "InitialNamesAccepted",
    message: "the initial names have been accepted",
  },
];

/** What it is called where it does not say, and that it is served: which it is as soon as it is stored. */
function complete(object: JsonObject): JsonObject {
  const spec = objectAt(object, "spec");
  const names = objectAt(spec, "names");
  const kind = textAt(names, "kind");
  const completed = {
    singular: kind.toLowerCase(),
    listKind: kind === "" ? "" : `${kind}List`,
    ...names,
  };
  const { conversion } = spec;
  return {
    ...object,
    spec: { ...spec, names: completed, conversion: isObject(conversion) ? conversion : { strategy: "None" } },
    status: statusOf(object, completed),
  };
}

function statusOf(object: JsonObject, acceptedNames: JsonObject): JsonObject {
  const lastTransitionTime = textAt(object, "metadata.creationTimestamp");
  const stored = objectsAt(object, "spec.versions").filter(({ storage }) => storage === true);
  const before = textsAt(object, "status.storedVersions");
  return {
    ...objectAt(object, "status"),
    acceptedNames,
    storedVersions: [...new Set([...before, ...stored.map((version) => textAt(version, "name"))])],
    conditions: CONDITIONS.map((condition) => ({ lastTransitionTime, ...condition })),
  };
}
