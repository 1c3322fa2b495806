import type { ResourceDefinition, TableColumn } from "../api/definition.ts";
import { isObject, nameOf } from "../core/look.ts";
import type { JsonObject } from "../json.ts";

/** What kubectl prints: the server decides on the columns. */
export interface TableOptions {
  readonly nowMs: number;
  readonly includeObject: "None" | "Metadata" | "Object";
}

const NAME: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Unique among the objects of its kind in its namespace.",
  priority: 0,
  cell: nameOf,
};

/** Kinds that place their name themselves have no name in front. */
function columnsOf({ columns }: ResourceDefinition): readonly TableColumn[] {
  return columns.some(({ format }) => format === NAME.format) ? columns : [NAME, ...columns];
}

export function columnDefinitions(definition: ResourceDefinition): readonly JsonObject[] {
  return columnsOf(definition).map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format: format ?? "",
    description,
    priority,
  }));
}

export function tableRow(
  definition: ResourceDefinition,
  object: JsonObject,
  options: TableOptions,
): JsonObject {
  const cells = columnsOf(definition).map(({ cell }) => cell(object, options.nowMs));
  switch (options.includeObject) {
    case "None":
      return { cells };
    case "Metadata":
      return { cells, object: partialMetadata(object) };
    case "Object":
      return { cells, object };
  }
}

export function table(
  metadata: JsonObject,
  columns: readonly JsonObject[] | null,
  rows: readonly JsonObject[],
): JsonObject {
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions: columns, rows };
}

/** An object of which only the metadata is told. */
export function partialMetadata({ metadata }: JsonObject): JsonObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: isObject(metadata) ? metadata : {},
  };
}
