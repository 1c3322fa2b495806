import { badRequest, unsupportedMedia } from "../api/statuses.ts";
import { isList, isObject, type JsonObject, type JsonValue } from "../json.ts";
import type { TableField } from "./message-tables.ts";
import { MESSAGES } from "./tables.generated.ts";

const MAGIC = "k8s\0";

/**
 * A request body in Kubernetes protobuf as the JSON it stands for. kubectl sends it for `create configmap` and its kin,
 * for evictions and for reviews; programs with typed clients do for all built-in kinds.
 */
export function decodeBody(body: Buffer): JsonObject {
  if (body.subarray(0, MAGIC.length).toString("latin1") !== MAGIC) throw malformed();
  const wrapping = partsOf(body.subarray(MAGIC.length));
  const type = partsOf(bytesIn(wrapping, 1));
  const [apiVersion, kind] = [textIn(type, 1), textIn(type, 2)];
  if (!Object.hasOwn(MESSAGES, kind)) throw unsupportedMedia(["application/json", "application/yaml"]);
  return { apiVersion, kind, ...decodeMessage(kind, bytesIn(wrapping, 2)) };
}

function decodeMessage(message: string, bytes: Buffer): JsonObject {
  const known = new Map((MESSAGES[message] ?? []).map((field) => [field.number, field]));
  const object: Record<string, JsonValue> = {};
  for (const [number, value] of wireFields(bytes)) {
    const field = known.get(number);
    if (field === undefined) throw badRequest(`field ${number} of ${message} is not known here; send JSON`);
    put(object, field, value);
  }
  return object;
}

function put(object: Record<string, JsonValue>, field: TableField, wire: Wire): void {
  const { name } = field;
  const before = object[name];
  if (field.kind.endsWith("-map")) {
    object[name] = { ...(isObject(before) ? before : {}), ...mapEntry(field, asBytes(wire)) };
    return;
  }
  const value = decodeValue(field, wire);
  if (field.isInline === true) Object.assign(object, value);
  else if (field.isRepeated === true) object[name] = [...(isList(before) ? before : []), value];
  // Go writes some fields also where nothing is set, so that an empty value says nothing.
  else if (field.isAlways !== true || !isEmpty(value)) object[name] = value;
}

function decodeValue({ kind, message = "" }: TableField, wire: Wire): JsonValue {
  switch (kind) {
    case "bool":
      return wire === 1n;
    case "int":
      return asNumber(wire);
    case "time":
      return timeText(asBytes(wire), 0);
    case "micro-time":
      return timeText(asBytes(wire), 6);
    case "quantity":
      return textIn(partsOf(asBytes(wire)), 1);
    case "int-or-string": {
      const parts = partsOf(asBytes(wire));
      return parts.get(1) === 1n ? textIn(parts, 3) : asNumber(parts.get(2) ?? 0n);
    }
    // Whoever owns which field is for the server to say: what a client sends of it is not heard.
    case "fields":
      return {};
    case "message":
      return decodeMessage(message, asBytes(wire));
    default:
      return asBytes(wire).toString("utf8");
  }
}

function mapEntry({ kind }: TableField, entry: Buffer): JsonObject {
  const parts = partsOf(entry);
  const value = bytesIn(parts, 2);
  const text = kind === "quantity-map" ? textIn(partsOf(value), 1) : value.toString(ENCODINGS.get(kind));
  return { [textIn(parts, 1)]: text };
}

const ENCODINGS: ReadonlyMap<string, BufferEncoding> = new Map([["bytes-map", "base64"]]);

/** An unset time is an empty message. */
function timeText(message: Buffer, decimals: 0 | 6): string | null {
  const parts = partsOf(message);
  const seconds = parts.get(1);
  if (seconds === undefined) return null;
  const whole = new Date(asNumber(seconds) * 1000).toISOString().slice(0, 19);
  const micros = Math.floor(asNumber(parts.get(2) ?? 0n) / 1000);
  return decimals === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, "0")}Z`;
}

function isEmpty(value: JsonValue): boolean {
  if (value === "" || value === 0 || value === false || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** The value of a field: Kubernetes' messages hold nothing but numbers and bytes. */
type Wire = bigint | Buffer;

const LONGEST_VARINT = 10;

function* wireFields(message: Buffer): Generator<readonly [number: number, value: Wire]> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let length = 0; length < LONGEST_VARINT; length++) {
      const byte = message[at++];
      if (byte === undefined) throw malformed();
      value |= BigInt(byte & 0x7f) << BigInt(7 * length);
      if (byte < 0x80) return value;
    }
    throw malformed();
  };
  while (at < message.length) {
    const tag = Number(varint());
    const isBytes = (tag & 7) === 2;
    if (!isBytes && (tag & 7) !== 0) throw malformed();
    const value = varint();
    const end = isBytes ? at + Number(value) : at;
    if (end > message.length) throw malformed();
    yield [tag >>> 3, isBytes ? message.subarray(at, end) : value];
    at = end;
  }
}

type Parts = ReadonlyMap<number, Wire>;

/** The last value of each field of a small message. */
function partsOf(message: Buffer): Parts {
  return new Map(wireFields(message));
}

function bytesIn(parts: Parts, number: number): Buffer {
  return asBytes(parts.get(number) ?? Buffer.alloc(0));
}

function textIn(parts: Parts, number: number): string {
  return bytesIn(parts, number).toString("utf8");
}

function asBytes(value: Wire): Buffer {
  if (Buffer.isBuffer(value)) return value;
  throw malformed();
}

function asNumber(value: Wire): number {
  if (typeof value === "bigint") return Number(BigInt.asIntN(64, value));
  throw malformed();
}

function malformed(): Error {
  return badRequest("the body of the request is not the protobuf it claims to be");
}
