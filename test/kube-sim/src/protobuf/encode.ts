import { Fault } from "@resource-broker/base";
import type { JsonObject } from "../json.ts";
import { type BackwardWriter, backwardWriter } from "./backward-writer.ts";
import { writeObject } from "./encode-message.ts";
import { writeText } from "./write-scalar.ts";

/** The kinds of which lists and watches can travel as protobuf. */
export type ProtobufKind = "Pod" | "Node";

/** Of a list: where a watch can go on, and the next page begins. */
export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

const MAGIC = Buffer.from("k8s\0");
const LENGTH_BYTES = 4;
/** The numbers of the fields of Unknown, in which every object is wrapped. */
const TYPE_META = 1;
const RAW = 2;
const CONTENT_ENCODING = 3;
const CONTENT_TYPE = 4;

/** The bare message, as it lies in a list. */
export function encodeObject(kind: ProtobufKind, object: JsonObject): Uint8Array {
  const writer = backwardWriter();
  writeObject(writer, kind, object);
  return writer.take();
}

/** A Pod, a Node or a Status that travels by itself: the reply to a GET, or a refusal. */
export function encodeReply(object: JsonObject): Uint8Array {
  const writer = backwardWriter();
  writeWrapped(writer, object);
  return writer.take();
}

/** The pieces of a list in their order, one for each item: to be sent one after the other, never joined. */
export function encodeList(kind: ProtobufKind, items: readonly JsonObject[], meta: ListMeta): Uint8Array[] {
  const pieces = [piece(1, "ListMeta", { ...meta }), ...items.map((item) => piece(2, kind, item))];
  const rawLength = pieces.reduce((sum, { length }) => sum + length, 0);
  const head = backwardWriter();
  head.lengthOf(RAW, rawLength);
  writeTypeMeta(head, `${kind}List`);
  const tail = backwardWriter();
  writeContentHints(tail);
  return [head.take(), ...pieces, tail.take()];
}

/** One event of a watch, its length before it. The object's `kind` says what it is: a Status in an ERROR. */
export function encodeWatchFrame(type: EventType, object: JsonObject): Uint8Array {
  const writer = backwardWriter();
  writeWrapped(writer, object);
  writer.wrap(1, 0);
  writer.wrap(2, 0);
  writeText(writer, 1, type);
  const header = Buffer.alloc(LENGTH_BYTES);
  header.writeUInt32BE(writer.length());
  writer.bytes(header);
  return writer.take();
}

function piece(fieldNumber: number, message: string, object: JsonObject): Uint8Array {
  const writer = backwardWriter();
  writeObject(writer, message, object);
  writer.wrap(fieldNumber, 0);
  return writer.take();
}

function writeWrapped(writer: BackwardWriter, object: JsonObject): void {
  const kind = kindOf(object);
  writeContentHints(writer);
  const since = writer.length();
  writeObject(writer, kind, object);
  writer.wrap(RAW, since);
  writeTypeMeta(writer, kind);
}

/** Both empty: the object is protobuf, and not compressed. */
function writeContentHints(writer: BackwardWriter): void {
  writeText(writer, CONTENT_TYPE, "");
  writeText(writer, CONTENT_ENCODING, "");
}

function writeTypeMeta(writer: BackwardWriter, kind: string): void {
  const since = writer.length();
  writeText(writer, 2, kind);
  writeText(writer, 1, "v1");
  writer.wrap(TYPE_META, since);
  writer.bytes(MAGIC);
}

function kindOf({ kind }: JsonObject): ProtobufKind | "Status" {
  if (kind === "Pod" || kind === "Node" || kind === "Status") return kind;
  throw new Fault("unsupported", `a ${JSON.stringify(kind)} cannot travel as protobuf: ask for JSON`);
}
