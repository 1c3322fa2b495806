import { badRequest, unsupportedMedia } from "../../api/statuses.ts";
import { isList, isObject } from "../../core/look.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { type BodyField, fieldsOf, isReadable } from "./tables.ts";
import { malformed, type WireField, wireFields } from "./wire-reader.ts";

const MAGIC = "k8s\0";
const TYPE_META = 1;
const RAW = 2;

/** A request body in Kubernetes protobuf as the JSON it stands for. */
export function decodeBody(body: Buffer): JsonObject {
  if (body.subarray(0, MAGIC.length).toString("latin1") !== MAGIC) throw malformed();
  let type: JsonObject = {};
  let raw: Buffer = Buffer.alloc(0);
  for (const { number, value } of wireFields(body.subarray(MAGIC.length))) {
    if (number === TYPE_META) type = typeMeta(asBytes(value));
    if (number === RAW) raw = asBytes(value);
  }
  const { kind } = type;
  if (typeof kind !== "string" || !isReadable(kind))
    throw unsupportedMedia(["application/json", "application/yaml"]);
  return { ...type, ...decodeMessage(kind, raw) };
}

function typeMeta(message: Buffer): JsonObject {
  const texts = new Map(
    [...wireFields(message)].map(({ number, value }) => [number, asBytes(value).toString("utf8")]),
  );
  return { apiVersion: texts.get(1) ?? "", kind: texts.get(2) ?? "" };
}

function decodeMessage(message: string, bytes: Buffer): JsonObject {
  const known = new Map((fieldsOf(message) ?? []).map((field) => [field.number, field]));
  const object: Record<string, JsonValue> = {};
  for (const wire of wireFields(bytes)) {
    const field = known.get(wire.number);
    if (field === undefined)
      throw badRequest(`field ${wire.number} of ${message} is not known here; send JSON`);
    put(object, field, wire);
  }
  return object;
}

function put(object: Record<string, JsonValue>, field: BodyField, wire: WireField): void {
  const { name } = field;
  const before = object[name];
  if (field.kind.endsWith("-map")) {
    const [key, value] = mapEntry(field, asBytes(wire.value));
    object[name] = { ...(isObject(before) ? before : {}), [key]: value };
    return;
  }
  const value = decodeValue(field, wire.value);
  if (field.isInline === true) Object.assign(object, value);
  else if (field.isRepeated === true) object[name] = [...(isList(before) ? before : []), value];
  else if (field.isAlways !== true || !isEmpty(value)) object[name] = value;
}

function decodeValue(field: BodyField, value: bigint | Buffer): JsonValue {
  switch (field.kind) {
    case "bool":
      return value === 1n;
    case "int":
      return Number(BigInt.asIntN(64, asNumber(value)));
    case "time":
      return timeText(asBytes(value), 0);
    case "micro-time":
      return timeText(asBytes(value), 6);
    case "quantity":
      return firstText(asBytes(value));
    case "int-or-string":
      return intOrString(asBytes(value));
    // Whoever owns which field is for the server to say: what a client sends of it is not heard.
    case "fields":
      return {};
    case "message":
      return decodeMessage(field.message ?? "", asBytes(value));
    default:
      return asBytes(value).toString("utf8");
  }
}

function mapEntry({ kind }: BodyField, entry: Buffer): [string, string] {
  const parts = new Map([...wireFields(entry)].map(({ number, value }) => [number, asBytes(value)]));
  const value = parts.get(2) ?? Buffer.alloc(0);
  const key = (parts.get(1) ?? Buffer.alloc(0)).toString("utf8");
  if (kind === "bytes-map") return [key, value.toString("base64")];
  return [key, kind === "quantity-map" ? firstText(value) : value.toString("utf8")];
}

/** Quantities and owned fields are messages with one text in them. */
function firstText(message: Buffer): string {
  for (const { number, value } of wireFields(message))
    if (number === 1) return asBytes(value).toString("utf8");
  return "";
}

/** An unset time is an empty message. */
function timeText(message: Buffer, decimals: 0 | 6): string | null {
  const numbers = new Map(
    [...wireFields(message)].map(({ number, value }) => [number, Number(asNumber(value))]),
  );
  const seconds = numbers.get(1);
  if (seconds === undefined) return null;
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const micros = Math.floor((numbers.get(2) ?? 0) / 1000);
  return decimals === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, "0")}Z`;
}

const IS_TEXT = 1n;

function intOrString(message: Buffer): string | number {
  const parts = new Map([...wireFields(message)].map(({ number, value }) => [number, value]));
  const text = parts.get(3);
  if (parts.get(1) === IS_TEXT) return text === undefined ? "" : asBytes(text).toString("utf8");
  return Number(BigInt.asIntN(64, asNumber(parts.get(2) ?? 0n)));
}

function isEmpty(value: JsonValue): boolean {
  if (value === "" || value === 0 || value === false || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function asBytes(value: bigint | Buffer): Buffer {
  if (Buffer.isBuffer(value)) return value;
  throw malformed();
}

function asNumber(value: bigint | Buffer): bigint {
  if (typeof value === "bigint") return value;
  throw malformed();
}
