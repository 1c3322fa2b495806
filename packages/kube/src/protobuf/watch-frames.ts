import { Fault } from "@resource-broker/base";
import { decodeHere } from "./decode-message.ts";
import { openEnvelope } from "./envelope.ts";
import type { MessageFields } from "./fields.ts";
import { type ProtobufStatus, readStatusHere } from "./status.ts";
import { readText } from "./texts.ts";
import {
  type Cursor,
  cursorOver,
  enter,
  LENGTH_DELIMITED,
  leave,
  malformed,
  readUint,
  skip,
  wrongWireType,
} from "./wire.ts";

/** The length of what follows, most significant byte first. */
const HEADER_BYTES = 4;
/** Kubernetes' own clients read no larger frame; an object of etcd has a tenth of it at most. */
const LARGEST_FRAME = 16 * 1024 * 1024;

interface FrameSplitter {
  readonly push: (chunk: Uint8Array) => void;
}

export type WatchFrame<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T; readonly resourceVersion: string }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string }
  | { readonly type: "ERROR"; readonly status: ProtobufStatus };

/** Takes the bytes of a watch as they arrive. */
export interface WatchFrames {
  /** The bytes may be used again as soon as this returns. */
  readonly push: (chunk: Uint8Array) => void;
}

const TYPE_TAG = (1 << 3) | LENGTH_DELIMITED;
const OBJECT_TAG = (2 << 3) | LENGTH_DELIMITED;
const RAW_TAG = (1 << 3) | LENGTH_DELIMITED;

const VERSION: MessageFields = {
  1: {
    name: "metadata",
    kind: { message: { 6: { name: "resourceVersion", kind: "string", isUnique: true } } },
  },
};

/** Reads the events of a watch, whatever the pieces they arrive in. */
export function watchFrames<T>(fields: MessageFields, onEvent: (event: WatchFrame<T>) => void): WatchFrames {
  return frameSplitter((bytes, start, end) => onEvent(readEvent<T>(fields, cursorOver(bytes, start, end))));
}

/** A frame is a WatchEvent without wrapping; the object in it is wrapped. */
function readEvent<T>(fields: MessageFields, cursor: Cursor): WatchFrame<T> {
  let type = "";
  const object: Cursor = { ...cursor, at: cursor.end };
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag === TYPE_TAG) type = readText(cursor);
    else if (tag === OBJECT_TAG) spanRaw(cursor, object);
    else if (tag >>> 3 <= 2) throw wrongWireType(cursor, tag);
    else skip(cursor, tag);
  }
  return toEvent<T>(type, fields, object);
}

/** Lets `span` cover the `raw` of the RawExtension at the cursor. */
function spanRaw(cursor: Cursor, span: Cursor): void {
  const outer = enter(cursor);
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag !== RAW_TAG) {
      if (tag >>> 3 === 1) throw wrongWireType(cursor, tag);
      skip(cursor, tag);
      continue;
    }
    const extension = enter(cursor);
    span.at = cursor.at;
    span.end = cursor.end;
    leave(cursor, extension);
  }
  leave(cursor, outer);
}

function toEvent<T>(type: string, fields: MessageFields, object: Cursor): WatchFrame<T> {
  switch (type) {
    case "ERROR":
      return { type, status: readStatusHere(object) };
    case "BOOKMARK":
      openEnvelope(object);
      return { type, resourceVersion: versionOf(object) };
    case "ADDED":
    case "MODIFIED":
    case "DELETED": {
      openEnvelope(object);
      const resourceVersion = versionOf({ ...object });
      return { type, object: decodeHere<T>(fields, object), resourceVersion };
    }
    default:
      throw malformed(object, `there is no such event as ${JSON.stringify(type)}`);
  }
}

/** Read by itself: the caller's table need not ask for it. */
function versionOf(object: Cursor): string {
  const { metadata } = decodeHere<{ metadata?: { resourceVersion?: string } }>(VERSION, object);
  return metadata?.resourceVersion ?? "";
}

/**
 * Cuts a stream into its frames, wherever the chunks end. A frame that arrives within one chunk is handed over in
 * place; only one that is spread over several is put together in memory of its own.
 */
function frameSplitter(onFrame: (bytes: Uint8Array, start: number, end: number) => void): FrameSplitter {
  const header = new Uint8Array(HEADER_BYTES);
  let headerFilled = 0;
  let body: Buffer | undefined;
  let bodyFilled = 0;

  function readHeader(chunk: Uint8Array, start: number): number {
    const part = chunk.subarray(start, start + HEADER_BYTES - headerFilled);
    header.set(part, headerFilled);
    headerFilled += part.length;
    return start + part.length;
  }

  function bodyLength(): number {
    const length = new DataView(header.buffer).getUint32(0);
    if (length <= LARGEST_FRAME) return length;
    const limit = `the largest is ${LARGEST_FRAME}`;
    throw new Fault("malformed", `the API server announces a watch event of ${length} bytes; ${limit}`);
  }

  function readBody(chunk: Uint8Array, start: number): number {
    const length = body?.length ?? bodyLength();
    if (body === undefined && chunk.length - start >= length) {
      headerFilled = 0;
      onFrame(chunk, start, start + length);
      return start + length;
    }
    body ??= Buffer.allocUnsafeSlow(length);
    const part = chunk.subarray(start, start + length - bodyFilled);
    body.set(part, bodyFilled);
    bodyFilled += part.length;
    if (bodyFilled === length) finish(body);
    return start + part.length;
  }

  function finish(whole: Buffer): void {
    headerFilled = 0;
    body = undefined;
    bodyFilled = 0;
    onFrame(whole, 0, whole.length);
  }

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (headerFilled < HEADER_BYTES) at = readHeader(chunk, at);
        if (headerFilled === HEADER_BYTES) at = readBody(chunk, at);
      }
    },
  };
}
