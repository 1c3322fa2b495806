import { Fault, parseTime } from "@resource-broker/base";
import { isList, isObject, type JsonObject, type JsonValue } from "../json.ts";
import type { TableField } from "./message-tables.ts";
import { MESSAGES } from "./tables.generated.ts";

/** Pods, nodes and Statuses as protobuf, byte for byte as Kubernetes' Go code writes them. */

/** The kinds of which lists and watches can travel as protobuf. */
export type ProtobufKind = "Pod" | "Node";

/** Of a list: where a watch can go on, and the next page begins. */
interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

const MAGIC = Buffer.from("k8s\0");
const LENGTH_BYTES = 4;
const VARINT = 0;
const BYTES = 2;

/** A Pod, a Node or a Status that travels by itself: the reply to a GET, or a refusal. */
export function encodeReply(object: JsonObject): Uint8Array {
  return Buffer.concat(wrapped(kindOf(object), [messageBytes(kindOf(object), object)]));
}

/** The pieces of a list in their order, one for each item: to be sent one after the other, never joined. */
export function encodeList(kind: ProtobufKind, items: readonly JsonObject[], meta: ListMeta): Uint8Array[] {
  return wrapped(`${kind}List`, [
    bytesField(1, messageBytes("ListMeta", { ...meta })),
    ...items.map((item) => bytesField(2, messageBytes(kind, item))),
  ]);
}

/** One event of a watch, its length before it. The object's `kind` says what it is: a Status in an ERROR. */
export function encodeWatchFrame(type: EventType, object: JsonObject): Uint8Array {
  const raw = bytesField(1, encodeReply(object));
  const event = Buffer.concat([textField(1, type), bytesField(2, raw)]);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** Every object is wrapped in a message that says what it is: it is protobuf, and not compressed. */
function wrapped(kind: string, pieces: readonly Buffer[]): Buffer[] {
  const type = bytesField(1, Buffer.concat([textField(1, "v1"), textField(2, kind)]));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = Buffer.concat([MAGIC, type, tag(2, BYTES), varint(length)]);
  return [head, ...pieces, Buffer.concat([textField(3, ""), textField(4, "")])];
}

function kindOf({ kind }: JsonObject): ProtobufKind | "Status" {
  if (kind === "Pod" || kind === "Node" || kind === "Status") return kind;
  throw new Fault("unsupported", `a ${JSON.stringify(kind)} cannot travel as protobuf: ask for JSON`);
}

function messageBytes(message: string, object: JsonObject): Buffer {
  return Buffer.concat((MESSAGES[message] ?? []).flatMap((field) => fieldBytes(field, object)));
}

function fieldBytes(field: TableField, object: JsonObject): readonly Buffer[] {
  if (field.isInline === true) return [bytesField(field.number, messageBytes(field.message ?? "", object))];
  const value = object[field.name] ?? undefined;
  if (value === undefined && field.isAlways !== true) return [];
  if (field.isRepeated === true) return isList(value) ? value.map((item) => valueBytes(field, item)) : [];
  return field.kind.endsWith("-map") ? mapBytes(field, value) : [valueBytes(field, value)];
}

function mapBytes({ number, kind }: TableField, map: JsonValue | undefined): readonly Buffer[] {
  const entries = Object.entries(isObject(map) ? map : {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, value]) => {
    const text = textField(kind === "quantity-map" ? 1 : 2, textOf(value));
    const item = kind === "quantity-map" ? bytesField(2, text) : text;
    return bytesField(number, Buffer.concat([textField(1, key), item]));
  });
}

/** Undefined: nothing is set, and Go writes the field all the same. */
function valueBytes({ number, kind, message }: TableField, value: JsonValue | undefined): Buffer {
  switch (kind) {
    case "bool":
      return intField(number, value === true ? 1 : 0);
    case "int":
      return intField(number, Number(value ?? 0));
    case "quantity":
      return bytesField(number, textField(1, textOf(value ?? "0")));
    case "time":
      return bytesField(number, timeBytes(value));
    case "int-or-string":
      return bytesField(number, intOrStringBytes(value ?? 0));
    case "fields":
      return bytesField(number, textField(1, JSON.stringify(value)));
    case "message":
      return bytesField(number, messageBytes(message ?? "", isObject(value) ? value : {}));
    default:
      return textField(number, textOf(value ?? ""));
  }
}

/** Kubernetes knows no fractions of a second here and still writes that there are none. */
function timeBytes(value: JsonValue | undefined): Buffer {
  const ms = typeof value === "string" ? parseTime(value) : undefined;
  if (ms === undefined) return Buffer.alloc(0);
  return Buffer.concat([intField(1, Math.floor(ms / 1000)), intField(2, 0)]);
}

function intOrStringBytes(value: JsonValue): Buffer {
  const isText = typeof value === "string";
  const number = isText ? 0 : Number(value);
  return Buffer.concat([intField(1, isText ? 1 : 0), intField(2, number), textField(3, isText ? value : "")]);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "number" ? String(value) : typeof value === "string" ? value : "";
}

function textField(number: number, text: string): Buffer {
  return bytesField(number, Buffer.from(text, "utf8"));
}

function bytesField(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([tag(number, BYTES), varint(bytes.length), bytes]);
}

function intField(number: number, value: number): Buffer {
  return Buffer.concat([tag(number, VARINT), varint(value)]);
}

function tag(number: number, wireType: number): Buffer {
  return varint(number * 8 + wireType);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  // A negative number is written as one of 64 bits.
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
