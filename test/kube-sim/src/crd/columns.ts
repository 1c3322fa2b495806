import type { TableColumn } from "../api/definition.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { humanDuration } from "../table/human-duration.ts";
import { jsonText, numberText } from "./go-text.ts";
import { type Find, readJsonPath } from "./json-path.ts";
import { objects, text } from "./schema.ts";

type ColumnType = TableColumn["type"];

const TYPES: readonly ColumnType[] = ["string", "integer", "number", "boolean", "date"];
/** What a server shows when a definition names no columns. */
const AGE_ONLY: JsonObject = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const AGE_DESCRIPTION = "When the object was created, as the time since then. Set by the server.";

/** What `kubectl get` shows of the objects of one version. */
export function columnsOf(version: JsonObject): readonly TableColumn[] {
  const given = objects(version["additionalPrinterColumns"]);
  if (given.length === 0) return [{ ...columnOf(AGE_ONLY), description: AGE_DESCRIPTION }];
  return given.map(columnOf);
}

function columnOf(raw: JsonObject): TableColumn {
  const path = text(raw["jsonPath"]);
  const read = readJsonPath(path);
  const type = TYPES.find((known) => known === raw["type"]) ?? "string";
  const format = text(raw["format"]);
  const description = text(raw["description"]);
  return {
    name: text(raw["name"]),
    type,
    ...(format === "" ? {} : { format }),
    description:
      description === "" ? `Custom resource definition column (in JSONPath format): ${path}` : description,
    priority: typeof raw["priority"] === "number" ? raw["priority"] : 0,
    cell: cellOf(type, read.ok ? read.find : () => []),
  };
}

/** Nothing there, or something of another type: an empty cell, which is null. */
function cellOf(type: ColumnType, find: Find): TableColumn["cell"] {
  return (object, nowMs) => {
    const value = find(object)[0];
    if (value === undefined) return null;
    switch (type) {
      case "string":
        return textCell(value);
      case "integer":
        return typeof value === "number" ? Math.trunc(value) : null;
      case "number":
        return typeof value === "number" ? value : null;
      case "boolean":
        return typeof value === "boolean" ? value : null;
      case "date":
        return typeof value === "string" ? ageCell(value, nowMs) : null;
    }
  };
}

function textCell(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberText(value);
  return value === null ? "<no value>" : jsonText(value);
}

function ageCell(time: string, nowMs: number): string {
  if (time === "" || time === "null") return "<unknown>";
  const at = Date.parse(time);
  return Number.isNaN(at) ? "<invalid>" : humanDuration(nowMs - at);
}
