import type { WatchChange } from "../api/cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { apiVersionOf } from "../api/registry.ts";
import type { JsonObject } from "../json.ts";
import { encodeWatchFrame } from "../protobuf/encode.ts";
import { columnDefinitions, partialMetadata, table, tableRow } from "../table/table.ts";
import { CONTENT_TYPES, type Format } from "./negotiate.ts";
import type { IncludeObject } from "./query.ts";

/** Turns events into what is sent. */
export interface WatchEncoder {
  readonly encoding: Format["encoding"];
  readonly frame: (type: WatchChange["type"], object: JsonObject) => string | Uint8Array;
  readonly bookmark: (resourceVersion: string, annotations?: JsonObject) => string | Uint8Array;
  readonly failure: (status: JsonObject) => string | Uint8Array;
}

export interface WatchRendering {
  readonly definition: ResourceDefinition;
  readonly format: Format;
  readonly includeObject: IncludeObject;
  readonly nowMs: () => number;
}

export function watchContentType({ encoding }: WatchEncoder): string {
  return encoding === "protobuf" ? `${CONTENT_TYPES.protobuf};stream=watch` : CONTENT_TYPES.json;
}

export function watchEncoder(rendering: WatchRendering): WatchEncoder {
  const { definition, format } = rendering;
  const write = format.encoding === "protobuf" ? encodeWatchFrame : jsonFrame;
  const shaped = shaper(rendering);
  return {
    encoding: format.encoding,
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

type EventType = Parameters<typeof encodeWatchFrame>[0];

function jsonFrame(type: EventType, object: JsonObject): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Only the first table of a watch says what its columns are. */
function shaper({
  definition,
  format,
  includeObject,
  nowMs,
}: WatchRendering): (object: JsonObject) => JsonObject {
  switch (format.shape) {
    case "whole":
      return (object) => object;
    case "metadata":
      return partialMetadata;
    case "table": {
      let columns: readonly JsonObject[] | null = columnDefinitions(definition);
      return (object) => {
        const row = tableRow(definition, object, { nowMs: nowMs(), includeObject });
        const event = table({}, columns, [row]);
        columns = null;
        return event;
      };
    }
  }
}
