import type { ListResult, ResourceDefinition, TableColumn, WatchChange } from "../api/cluster-api.ts";
import { apiVersionOf, isBuiltIn } from "../api/registry.ts";
import { notAcceptable } from "../api/statuses.ts";
import { isObject, type JsonObject, nameOf, textAt } from "../json.ts";
import { encodeList, encodeReply, encodeWatchFrame, type ProtobufKind } from "../protobuf/encode.ts";
import type { Answer, WholeAnswer } from "./http.ts";
import type { IncludeObject } from "./request.ts";

/** How objects are written: as JSON, as the rows of a table, or in protobuf. */
type Format = "json" | "table" | "protobuf";

export interface Rendering {
  readonly definition: ResourceDefinition;
  readonly format: Format;
  readonly includeObject: IncludeObject;
  readonly nowMs: () => number;
}

interface Outcome {
  readonly status: number;
  readonly warnings?: readonly string[];
}

const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

/** The first of the caller's wishes that can be met; a wish for everything is met with JSON. */
export function negotiate(accept: string | undefined, definition: ResourceDefinition): Format {
  if (accept === undefined || accept === "") return "json";
  const formats = accept.split(",").map((wish) => formatOf(wish, definition));
  const found = formats.find((format) => format !== undefined);
  if (found !== undefined) return found;
  throw notAcceptable([JSON_TYPE, ...(protobufKind(definition) === undefined ? [] : [PROTOBUF_TYPE])]);
}

function formatOf(wish: string, definition: ResourceDefinition): Format | undefined {
  const [type = "", ...parameters] = wish.split(";").map((part) => part.trim());
  const as = parameters.find((parameter) => parameter.startsWith("as="));
  if (type === PROTOBUF_TYPE && as === undefined && protobufKind(definition) !== undefined) return "protobuf";
  if (![JSON_TYPE, "application/*", "*/*"].includes(type)) return undefined;
  if (as === undefined) return "json";
  return as === "as=Table" && parameters.includes("v=v1") ? "table" : undefined;
}

function protobufKind({ group, kind }: ResourceDefinition): ProtobufKind | undefined {
  return group === "" && (kind === "Pod" || kind === "Node") ? kind : undefined;
}

export function jsonAnswer(body: JsonObject, { status, warnings = [] }: Outcome): WholeAnswer {
  return { kind: "whole", status, contentType: JSON_TYPE, body: `${JSON.stringify(body)}\n`, warnings };
}

export function renderObject(rendering: Rendering, object: JsonObject, outcome: Outcome): Answer {
  if (rendering.format === "protobuf")
    return { kind: "whole", contentType: PROTOBUF_TYPE, body: encodeReply(object), ...outcome };
  // The answer to a delete may be a Status, which has no row.
  return jsonAnswer(object["kind"] === "Status" ? object : shaper(rendering)(object), outcome);
}

export function renderList(rendering: Rendering, list: ListResult): Answer {
  const { items, ...metadata } = list;
  const kind = protobufKind(rendering.definition);
  if (rendering.format !== "protobuf" || kind === undefined)
    return jsonAnswer(jsonList(rendering, list), { status: 200 });
  const body = Buffer.concat(encodeList(kind, items, metadata));
  return { kind: "whole", status: 200, contentType: PROTOBUF_TYPE, body };
}

function jsonList(rendering: Rendering, { items, ...metadata }: ListResult): JsonObject {
  const { definition, format } = rendering;
  if (format === "table") {
    const rows = items.map((object) => tableRow(rendering, object));
    return table(metadata, columnDefinitions(definition), rows);
  }
  // Lists of built-in kinds say once what their items are, those of custom kinds with each item.
  const shown = isBuiltIn(definition) ? items.map(withoutType) : items;
  return { kind: definition.listKind, apiVersion: apiVersionOf(definition), metadata, items: shown };
}

function withoutType({ apiVersion: _apiVersion, kind: _kind, ...object }: JsonObject): JsonObject {
  return object;
}

/** Only the first table of a watch says what its columns are. */
function shaper(rendering: Rendering): (object: JsonObject) => JsonObject {
  const { definition, format } = rendering;
  if (format !== "table") return (object) => object;
  let columns: readonly JsonObject[] | null = columnDefinitions(definition);
  return (object) => {
    const metadata = { resourceVersion: textAt(object, "metadata.resourceVersion") };
    const shaped = table(metadata, columns, [tableRow(rendering, object)]);
    columns = null;
    return shaped;
  };
}

/** Turns the events of a watch into what is sent. */
export interface WatchEncoder {
  readonly contentType: string;
  readonly frame: (type: WatchChange["type"], object: JsonObject) => string | Uint8Array;
  readonly bookmark: (resourceVersion: string, annotations?: JsonObject) => string | Uint8Array;
  readonly failure: (status: JsonObject) => string | Uint8Array;
}

type EventType = Parameters<typeof encodeWatchFrame>[0];

export function watchEncoder(rendering: Rendering): WatchEncoder {
  const { definition, format } = rendering;
  const isProtobuf = format === "protobuf";
  const write = isProtobuf ? encodeWatchFrame : jsonFrame;
  const shaped = shaper(rendering);
  return {
    contentType: isProtobuf ? `${PROTOBUF_TYPE};stream=watch` : JSON_TYPE,
    frame: (type, object) => write(type, shaped(object)),
    bookmark: (resourceVersion, annotations) =>
      write(
        "BOOKMARK",
        shaped({
          kind: definition.kind,
          apiVersion: apiVersionOf(definition),
          metadata: { resourceVersion, ...(annotations === undefined ? {} : { annotations }) },
        }),
      ),
    failure: (status) => write("ERROR", status),
  };
}

function jsonFrame(type: EventType, object: JsonObject): string {
  return `${JSON.stringify({ type, object })}\n`;
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

function columnDefinitions(definition: ResourceDefinition): readonly JsonObject[] {
  return columnsOf(definition).map(({ cell: _cell, ...column }) => ({ format: "", ...column }));
}

function tableRow({ definition, includeObject, nowMs }: Rendering, object: JsonObject): JsonObject {
  const cells = columnsOf(definition).map(({ cell }) => cell(object, nowMs()));
  if (includeObject === "None") return { cells };
  return { cells, object: includeObject === "Object" ? object : partialMetadata(object) };
}

function table(
  metadata: JsonObject,
  columns: readonly JsonObject[] | null,
  rows: readonly JsonObject[],
): JsonObject {
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions: columns, rows };
}

function partialMetadata({ metadata }: JsonObject): JsonObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    ...(isObject(metadata) ? { metadata } : {}),
  };
}
