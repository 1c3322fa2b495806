import type { Selection } from "../api/cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import type { JsonObject } from "../json.ts";
import { fieldSelector } from "./field-selector.ts";
import { labelSelector } from "./label-selector.ts";

export interface Selector {
  readonly matches: (object: JsonObject) => boolean;
  /** True: nothing is left out. */
  readonly isOpen: boolean;
  readonly name?: string;
}

const EVERYTHING: Selector = { matches: () => true, isOpen: true };

export function selectorOf(definition: ResourceDefinition, selection: Selection): Selector {
  const labels = (selection.labelSelector ?? "").trim();
  const fields = selection.fieldSelector ?? "";
  if (labels === "" && fields === "") return EVERYTHING;
  const byLabels = labelSelector(labels);
  const byFields = fieldSelector(definition, fields);
  return {
    matches: (object) => byFields.matches(object) && byLabels(object),
    isOpen: false,
    ...(byFields.name === undefined ? {} : { name: byFields.name }),
  };
}
