import { jsonText } from "../api/causes.ts";
import type { TableColumn } from "../api/cluster-api.ts";
import { humanDuration } from "../core/human-duration.ts";
import { isList, isObject, type JsonObject, type JsonValue, objectsAt, textAt } from "../json.ts";

type ColumnType = TableColumn["type"];

const TYPES: readonly ColumnType[] = ["string", "integer", "number", "boolean", "date"];
/** What a server shows when a definition names no columns. */
const AGE_ONLY: JsonObject = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** What `kubectl get` shows of the objects of one version. */
export function columnsOf(version: JsonObject): readonly TableColumn[] {
  const given = objectsAt(version, "additionalPrinterColumns");
  return (given.length === 0 ? [AGE_ONLY] : given).map(columnOf);
}

function columnOf(raw: JsonObject): TableColumn {
  const path = textAt(raw, "jsonPath");
  const find = readJsonPath(path);
  const type = TYPES.find((known) => known === raw["type"]) ?? "string";
  const format = textAt(raw, "format");
  return {
    name: textAt(raw, "name"),
    type,
    ...(format === "" ? {} : { format }),
    description:
      textAt(raw, "description") || `Custom resource definition column (in JSONPath format): ${path}`,
    priority: typeof raw["priority"] === "number" ? raw["priority"] : 0,
    cell: (object, nowMs) => cellOf(type, find(object), nowMs),
  };
}

/** Nothing there, or something of another type: an empty cell, which is null. */
function cellOf(type: ColumnType, value: JsonValue | undefined, nowMs: number): JsonValue {
  if (value === undefined) return null;
  switch (type) {
    case "string":
      return typeof value === "string" ? value : jsonText(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageCell(value, nowMs) : null;
  }
}

function ageCell(time: string, nowMs: number): string {
  if (time === "") return "<unknown>";
  const at = Date.parse(time);
  return Number.isNaN(at) ? "<invalid>" : humanDuration(nowMs - at);
}

/** The first value that a path leads to. */
export type Find = (object: JsonObject) => JsonValue | undefined;
type Step = (value: JsonValue | undefined) => JsonValue | undefined;

const STEP =
  /\.(?<name>(?:[^.[\]\\]|\\.)+)|\[\?\(@\.(?<key>\w+)==(?:"(?<double>[^"]*)"|'(?<single>[^']*)')\)\]|\[(?<index>\*|\d+)\]/uy;

/** The part of JSONPath that definitions use: names, `[0]`, `[*]`, `[?(@.type=="Ready")]`. Throws a `TypeError`. */
export function readJsonPath(path: string): Find {
  const steps: Step[] = [];
  for (let at = 0; at < path.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) throw new TypeError(`kube-sim cannot follow ${path.slice(at)} in the path ${path}`);
    steps.push(stepOf(found.groups ?? {}));
  }
  return (object) => steps.reduce<JsonValue | undefined>((value, step) => step(value), object);
}

function stepOf(groups: Readonly<Record<string, string | undefined>>): Step {
  const { name, key, index, double, single } = groups;
  if (name !== undefined) {
    const field = name.replaceAll(/\\(.)/gu, "$1");
    return (value) => (isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined);
  }
  if (key === undefined)
    return (value) => (isList(value) ? value[index === "*" ? 0 : Number(index)] : undefined);
  const wanted = double ?? single;
  return (value) =>
    isList(value) ? value.find((item) => isObject(item) && item[key] === wanted) : undefined;
}
