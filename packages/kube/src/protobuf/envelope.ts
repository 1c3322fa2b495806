import { readText } from "./texts.ts";
import {
  type Cursor,
  enter,
  LENGTH_DELIMITED,
  leave,
  malformed,
  readUint,
  skip,
  wrongWireType,
} from "./wire.ts";

/** `k8s` and a zero byte stand before every object that travels by itself. */
export const MAGIC: Uint8Array = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
/** The field of the wrapping that holds the object. */
export const RAW_TAG = (2 << 3) | LENGTH_DELIMITED;
const TYPE_TAG = (1 << 3) | LENGTH_DELIMITED;
const KIND_TAG = (2 << 3) | LENGTH_DELIMITED;
const ENCODING_TAG = (3 << 3) | LENGTH_DELIMITED;
const CONTENT_TYPE_TAG = (4 << 3) | LENGTH_DELIMITED;
const PROTOBUF = "application/vnd.kubernetes.protobuf";

/**
 * Opens the wrapping (`runtime.Unknown`) in which Kubernetes sends an object: afterwards the cursor spans the object
 * itself. Returns its kind.
 */
export function openEnvelope(cursor: Cursor): string {
  for (const byte of MAGIC) {
    if (cursor.at >= cursor.end || cursor.bytes[cursor.at] !== byte) throw noMagic(cursor);
    cursor.at += 1;
  }
  let kind = "";
  let at = cursor.end;
  let end = cursor.end;
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag !== RAW_TAG) kind = readEnvelopeField(cursor, tag) ?? kind;
    else {
      const outer = enter(cursor);
      at = cursor.at;
      end = cursor.end;
      leave(cursor, outer);
    }
  }
  cursor.at = at;
  cursor.end = end;
  return kind;
}

export function noMagic(cursor: Cursor): Error {
  return malformed(cursor, "the magic bytes of Kubernetes protobuf are missing");
}

/** Reads a field of the wrapping that is not the object; returns the kind if the field has it. */
export function readEnvelopeField(cursor: Cursor, tag: number): string | undefined {
  if (tag === TYPE_TAG) return readKind(cursor);
  if (tag === ENCODING_TAG) {
    const encoding = readText(cursor);
    if (encoding !== "") throw malformed(cursor, `the object is encoded as ${encoding}`);
  } else if (tag === CONTENT_TYPE_TAG) {
    const type = readText(cursor);
    if (type !== "" && type !== PROTOBUF) throw malformed(cursor, `the object is of the type ${type}`);
  } else if (tag >>> 3 <= 4) throw wrongWireType(cursor, tag);
  else skip(cursor, tag);
  return undefined;
}

function readKind(cursor: Cursor): string {
  const outer = enter(cursor);
  let kind = "";
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag === KIND_TAG) kind = readText(cursor);
    else skip(cursor, tag);
  }
  leave(cursor, outer);
  return kind;
}
