import type { ListResult, ResourceDefinition, TableColumn, WatchChange } from "../api/cluster-api.ts";
import { apiVersionOf, isBuiltIn } from "../api/registry.ts";
import { notAcceptable } from "../api/statuses.ts";
import { isObject, type JsonObject, nameOf, textAt } from "../json.ts";
import { encodeList, encodeReply, encodeWatchFrame, type ProtobufKind } from "../protobuf/encode.ts";
import type { Answer, WholeAnswer } from "./http.ts";
import type { IncludeObject } from "./request.ts";

/** How objects are written: as JSON or protobuf, whole, as rows of a table, or as their metadata alone. */

interface Format {
  readonly encoding: "json" | "protobuf";
  readonly shape: "whole" | "table" | "metadata";
}

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
  if (accept === undefined || accept === "") return { encoding: "json", shape: "whole" };
  const formats = accept.split(",").map((wish) => formatOf(wish, definition));
  const found = formats.find((format) => format !== undefined);
  if (found !== undefined) return found;
  throw notAcceptable([JSON_TYPE, ...(protobufKind(definition) === undefined ? [] : [PROTOBUF_TYPE])]);
}

const SHAPES: ReadonlyMap<string, Format["shape"]> = new Map([
  ["as=Table", "table"],
  ["as=PartialObjectMetadata", "metadata"],
  ["as=PartialObjectMetadataList", "metadata"],
]);

function formatOf(wish: string, definition: ResourceDefinition): Format | undefined {
  const [type = "", ...parameters] = wish.split(";").map((part) => part.trim());
  const as = parameters.find((parameter) => parameter.startsWith("as="));
  if (type === PROTOBUF_TYPE && as === undefined && protobufKind(definition) !== undefined)
    return { encoding: "protobuf", shape: "whole" };
  if (![JSON_TYPE, "application/*", "*/*"].includes(type)) return undefined;
  if (as === undefined) return { encoding: "json", shape: "whole" };
  const shape = parameters.includes("v=v1") ? SHAPES.get(as) : undefined;
  return shape === undefined ? undefined : { encoding: "json", shape };
}

function protobufKind({ group, kind }: ResourceDefinition): ProtobufKind | undefined {
  return group === "" && (kind === "Pod" || kind === "Node") ? kind : undefined;
}

export function jsonAnswer(body: JsonObject, { status, warnings = [] }: Outcome): WholeAnswer {
  return { kind: "whole", status, contentType: JSON_TYPE, body: `${JSON.stringify(body)}\n`, warnings };
}

export function renderObject(rendering: Rendering, object: JsonObject, outcome: Outcome): Answer {
  const { format } = rendering;
  if (format.encoding === "protobuf")
    return { kind: "whole", contentType: PROTOBUF_TYPE, body: encodeReply(object), ...outcome };
  // The answer to a delete may be a Status, which has no row.
  return jsonAnswer(object["kind"] === "Status" ? object : shaper(rendering)(object), outcome);
}

export function renderList(rendering: Rendering, { items, ...metadata }: ListResult): Answer {
  const { definition, format } = rendering;
  const kind = protobufKind(definition);
  if (format.encoding === "protobuf" && kind !== undefined)
    return { kind: "pieces", contentType: PROTOBUF_TYPE, pieces: encodeList(kind, items, metadata) };
  return { kind: "pieces", contentType: JSON_TYPE, pieces: jsonPieces(rendering, metadata, items) };
}

const PIECE_CHARACTERS = 64 * 1024;

function* jsonPieces(
  rendering: Rendering,
  metadata: JsonObject,
  items: readonly JsonObject[],
): Generator<string> {
  const { head, list, item } = frameOf(rendering, metadata);
  let piece = `${JSON.stringify(head).slice(0, -1)},"${list}":[`;
  for (const [index, object] of items.entries()) {
    piece += `${index === 0 ? "" : ","}${JSON.stringify(item(object))}`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  yield `${piece}]}\n`;
}

interface Frame {
  readonly head: JsonObject;
  /** Under which name the items stand. */
  readonly list: "items" | "rows";
  readonly item: (object: JsonObject) => JsonObject;
}

function frameOf(rendering: Rendering, metadata: JsonObject): Frame {
  const { definition, format } = rendering;
  if (format.shape === "table") {
    const { rows: _rows, ...head } = table(metadata, columnDefinitions(definition), []);
    return { head, list: "rows", item: (object) => tableRow(rendering, object) };
  }
  const head =
    format.shape === "whole"
      ? { kind: definition.listKind, apiVersion: apiVersionOf(definition), metadata }
      : { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata };
  // Lists of built-in kinds say once what their items are, those of custom kinds with each item.
  const isBare = format.shape === "whole" && isBuiltIn(definition);
  return { head, list: "items", item: isBare ? withoutType : shaper(rendering) };
}

function withoutType({ apiVersion: _apiVersion, kind: _kind, ...object }: JsonObject): JsonObject {
  return object;
}

/** Only the first table of a watch says what its columns are. */
function shaper(rendering: Rendering): (object: JsonObject) => JsonObject {
  const { definition, format } = rendering;
  if (format.shape === "whole") return (object) => object;
  if (format.shape === "metadata") return partialMetadata;
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
  const isProtobuf = format.encoding === "protobuf";
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
