import { stringify as toYaml } from "yaml";
import type { ListResult } from "../api/cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { apiVersionOf, isBuiltIn } from "../api/registry.ts";
import { textAt } from "../core/look.ts";
import type { JsonObject } from "../json.ts";
import { encodeList, encodeReply, type ProtobufKind } from "../protobuf/encode.ts";
import { columnDefinitions, partialMetadata, table, tableRow } from "../table/table.ts";
import type { Answer, WholeAnswer } from "./answer.ts";
import { CONTENT_TYPES, type Format } from "./negotiate.ts";
import type { IncludeObject } from "./query.ts";

/** How an answer about objects of one kind is written. */
export interface Rendering {
  readonly definition: ResourceDefinition;
  readonly format: Format;
  readonly includeObject: IncludeObject;
  readonly nowMs: number;
}

export interface Outcome {
  readonly status: number;
  readonly warnings?: readonly string[];
}

export function protobufKind({ group, kind }: ResourceDefinition): ProtobufKind | undefined {
  return group === "" && (kind === "Pod" || kind === "Node") ? kind : undefined;
}

export function renderObject(rendering: Rendering, object: JsonObject, outcome: Outcome): Answer {
  const { definition, format } = rendering;
  // The answer to a delete may be a Status, which has no row.
  const isStatus = object["kind"] === "Status" && definition.kind !== "Status";
  const shape = isStatus ? "whole" : format.shape;
  if (shape === "table") {
    const metadata = { resourceVersion: textAt(object, "metadata.resourceVersion") };
    const row = tableRow(definition, object, rendering);
    return encoded(format, table(metadata, columnDefinitions(definition), [row]), outcome);
  }
  return encoded(format, shape === "metadata" ? partialMetadata(object) : object, outcome);
}

export function encoded(
  { encoding }: Format,
  body: JsonObject,
  { status, warnings = [] }: Outcome,
): WholeAnswer {
  return {
    kind: "whole",
    status,
    contentType: CONTENT_TYPES[encoding],
    body: encodeBody(encoding, body),
    warnings,
  };
}

function encodeBody(encoding: Format["encoding"], body: JsonObject): string | Uint8Array {
  switch (encoding) {
    case "json":
      return `${JSON.stringify(body)}\n`;
    case "yaml":
      return toYaml(body);
    case "protobuf":
      return encodeReply(body);
  }
}

export function renderList(rendering: Rendering, result: ListResult): Answer {
  const { definition, format } = rendering;
  const { items, ...metadata } = result;
  const kind = protobufKind(definition);
  if (format.encoding === "protobuf" && kind !== undefined)
    return { kind: "pieces", contentType: CONTENT_TYPES.protobuf, pieces: encodeList(kind, items, metadata) };
  const frame = frameOf(rendering, metadata);
  if (format.encoding === "yaml")
    return encoded(format, { ...frame.head, [frame.list]: items.map(frame.item) }, { status: 200 });
  return { kind: "pieces", contentType: CONTENT_TYPES.json, pieces: jsonPieces(frame, items) };
}

interface Frame {
  readonly head: JsonObject;
  /** Under which name the items stand. */
  readonly list: "items" | "rows";
  readonly item: (object: JsonObject) => JsonObject;
}

function frameOf(rendering: Rendering, metadata: JsonObject): Frame {
  const { definition, format } = rendering;
  switch (format.shape) {
    case "whole":
      return {
        head: { kind: definition.listKind, apiVersion: apiVersionOf(definition), metadata },
        list: "items",
        item: isBuiltIn(definition) ? withoutType : (object) => object,
      };
    case "metadata":
      return {
        head: { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata },
        list: "items",
        item: partialMetadata,
      };
    case "table": {
      const { rows: _rows, ...head } = table(metadata, columnDefinitions(definition), []);
      return { head, list: "rows", item: (object) => tableRow(definition, object, rendering) };
    }
  }
}

/** Lists of built-in kinds say once what their items are, those of custom kinds with each item. */
function withoutType({ apiVersion: _apiVersion, kind: _kind, ...object }: JsonObject): JsonObject {
  return object;
}

const PIECE_CHARACTERS = 64 * 1024;

function* jsonPieces(frame: Frame, items: readonly JsonObject[]): Generator<string> {
  let piece = `${JSON.stringify(frame.head).slice(0, -1)},"${frame.list}":[`;
  for (const [index, item] of items.entries()) {
    piece += `${index === 0 ? "" : ","}${JSON.stringify(frame.item(item))}`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  yield `${piece}]}\n`;
}
