import type { TableColumn } from "../api/definition.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { ageOf } from "../table/human-duration.ts";
import { textAt } from "./look.ts";

type Cell = (object: JsonObject, nowMs: number) => JsonValue;

export function column(name: string, cell: Cell, description: string): TableColumn {
  return { name, type: "string", description, priority: 0, cell };
}

export function wideColumn(name: string, cell: Cell, description: string): TableColumn {
  return { ...column(name, cell, description), priority: 1 };
}

/** A text of the object; `<none>` where there is none, as kubectl users know it. */
export function textOr(path: string, absent = "<none>"): Cell {
  return (object) => textAt(object, path) || absent;
}

export const AGE: TableColumn = column(
  "Age",
  (object, nowMs) => ageOf(textAt(object, "metadata.creationTimestamp"), nowMs),
  "Time since it was created.",
);
