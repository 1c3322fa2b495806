import type { ResourceDefinition } from "../api/definition.ts";
import { admitDefinition } from "../crd/definition/admit-definition.ts";
import { builtIn } from "./built-in.ts";
import { column, textOr } from "./columns.ts";
import { DEFINITION_SCHEMA } from "./schema/small-kinds.ts";

export const CUSTOM_RESOURCE_DEFINITIONS: ResourceDefinition = {
  ...builtIn({
    group: "apiextensions.k8s.io",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    isNamespaced: false,
    hasStatus: true,
    hasGeneration: true,
    updates: { allowsBlindUpdate: false },
    schema: DEFINITION_SCHEMA,
    columns: [column("Created At", textOr("metadata.creationTimestamp", ""), "When the kind was added.")],
  }),
  admit: admitDefinition,
};
