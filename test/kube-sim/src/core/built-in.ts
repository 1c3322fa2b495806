import type { ResourceDefinition, TableColumn } from "../api/definition.ts";
import type { JsonObject } from "../json.ts";
import { admitWith, type KindRules } from "./admit-with.ts";
import { scalarText, valueAt } from "./look.ts";

export interface BuiltIn extends KindRules {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly group?: string;
  readonly isNamespaced?: boolean;
  readonly hasStatus?: boolean;
  readonly hasGeneration?: boolean;
  readonly columns: readonly TableColumn[];
  /** Paths that a field selector may name. */
  readonly selectable?: readonly string[];
  readonly mergeKeys?: Readonly<Record<string, string>>;
  readonly updates?: Pick<ResourceDefinition, "allowsBlindUpdate" | "allowsCreateOnUpdate">;
}

/** A kind of the real API server, modelled here. */
export function builtIn(kind: BuiltIn): ResourceDefinition {
  return {
    group: kind.group ?? "",
    version: "v1",
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.plural,
    singular: kind.kind.toLowerCase(),
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    isNamespaced: kind.isNamespaced ?? true,
    hasStatus: kind.hasStatus ?? false,
    hasGeneration: kind.hasGeneration ?? false,
    columns: kind.columns,
    admit: admitWith(kind),
    selectableFields: Object.fromEntries((kind.selectable ?? []).map((path) => [path, fieldText(path)])),
    mergeKeys: kind.mergeKeys ?? {},
    schema: kind.schema,
    ...kind.updates,
  };
}

/** Booleans read as text; an absent one is false, as in the server's types. */
const FLAGS: ReadonlySet<string> = new Set(["spec.unschedulable", "spec.hostNetwork"]);

function fieldText(path: string): (object: JsonObject) => string {
  const absent = FLAGS.has(path) ? "false" : "";
  return (object) => scalarText(valueAt(object, path)) || absent;
}
