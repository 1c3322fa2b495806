import { fractionText } from "../../go-text.ts";
import { durationText, parseDateTime, parseDuration, timestampText } from "../time.ts";
import {
  A,
  B,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  TYPE,
  type Type,
  UINT,
} from "../types.ts";
import { failure, isFailure, isTagged, type Value } from "../values.ts";
import { checkedInt, checkedUint, wholePart } from "./operators.ts";
import { anyArg, doubleArg, fn, intArg, method, type Overload, taggedArg, textArg } from "./overload.ts";

const SECOND = 1_000_000_000n;

export const CONVERSIONS: readonly Overload[] = [
  fn("dyn", [A], [DYN, ([value]) => anyArg(value)]),
  fn("type", [A], [TYPE, ([value]) => ({ kind: "type", name: typeName(anyArg(value)) })]),
  ...[BOOL, INT, UINT, DOUBLE, STRING, BYTES, DURATION, TIMESTAMP].map((type) =>
    fn(type.kind, [type], [type, ([value]) => anyArg(value)]),
  ),
  fn("bool", [STRING], [BOOL, ([text]) => toBool(textArg(text))]),
  fn("bytes", [STRING], [BYTES, ([text]) => ({ kind: "bytes", bytes: Buffer.from(textArg(text)) })]),
  fn("double", [INT], [DOUBLE, ([value]) => Number(intArg(value))]),
  fn("double", [UINT], [DOUBLE, ([value]) => Number(taggedArg(value, "uint").value)]),
  fn("double", [STRING], [DOUBLE, ([text]) => toDouble(textArg(text))]),
  fn(
    "duration",
    [STRING],
    [DURATION, ([text]) => converted(parseDuration(textArg(text)), "google.protobuf.Duration")],
  ),
  fn("int", [UINT], [INT, ([value]) => checkedInt(taggedArg(value, "uint").value)]),
  fn("int", [DOUBLE], [INT, ([value]) => toInt(doubleArg(value))]),
  fn("int", [STRING], [INT, ([text]) => intOfText(textArg(text))]),
  fn("int", [TIMESTAMP], [INT, ([value]) => floorSeconds(taggedArg(value, "timestamp").nanos)]),
  fn("string", [BOOL], [STRING, ([value]) => (value === true ? "true" : "false")]),
  fn("string", [INT], [STRING, ([value]) => String(intArg(value))]),
  fn("string", [UINT], [STRING, ([value]) => String(taggedArg(value, "uint").value)]),
  fn("string", [DOUBLE], [STRING, ([value]) => doubleText(doubleArg(value))]),
  fn("string", [BYTES], [STRING, ([value]) => textOfBytes(taggedArg(value, "bytes").bytes)]),
  fn("string", [DURATION], [STRING, ([value]) => durationText(taggedArg(value, "duration").nanos)]),
  fn("string", [TIMESTAMP], [STRING, ([value]) => timestampText(taggedArg(value, "timestamp").nanos)]),
  fn(
    "timestamp",
    [STRING],
    [TIMESTAMP, ([text]) => converted(parseDateTime(textArg(text)), "google.protobuf.Timestamp")],
  ),
  fn("timestamp", [INT], [TIMESTAMP, ([value]) => ({ kind: "timestamp", nanos: intArg(value) * SECOND })]),
  fn("uint", [INT], [UINT, ([value]) => checkedUint(intArg(value))]),
  fn("uint", [DOUBLE], [UINT, ([value]) => toUint(doubleArg(value))]),
  fn("uint", [STRING], [UINT, ([text]) => uintOfText(textArg(text))]),
  ...sizes(),
];

/** The names of types as values: `type(self) == string`. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "int",
  "list",
  "map",
  "null_type",
  "string",
  "type",
  "uint",
  "google.protobuf.Duration",
  "google.protobuf.Timestamp",
]);

export function doubleText(value: number): string {
  if (Number.isFinite(value)) return fractionText(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function typeName(value: Value): string {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
    default:
      return value === null ? "null_type" : taggedTypeName(value);
  }
}

function taggedTypeName(value: Exclude<Value, null | boolean | bigint | number | string>): string {
  switch (value.kind) {
    case "duration":
      return "google.protobuf.Duration";
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "quantity":
      return "kubernetes.Quantity";
    case "url":
      return "kubernetes.URL";
    case "optional":
      return "optional_type";
    case "object":
    case "opaque":
      return "object";
    default:
      return value.kind;
  }
}

function sizes(): Overload[] {
  const types: readonly Type[] = [STRING, BYTES, listOf(A), mapOf(A, B)];
  return types.flatMap((type) => [
    fn("size", [type], [INT, ([value]) => sizeOf(anyArg(value))]),
    method("size", [type], [INT, ([value]) => sizeOf(anyArg(value))]),
  ]);
}

function sizeOf(value: Value): bigint {
  if (typeof value === "string") return BigInt(Array.from(value).length);
  if (isTagged(value, "bytes")) return BigInt(value.bytes.length);
  if (isTagged(value, "map")) return BigInt(value.entries.size);
  return BigInt(taggedArg(value, "list").items.length);
}

function converted(value: Value, type: string): Value {
  return isFailure(value) ? failure(`type conversion error from 'string' to '${type}'`) : value;
}

function toBool(text: string): Value {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(text)) return false;
  return failure("type conversion error from 'string' to 'bool'");
}

function toDouble(text: string): Value {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === "nan") return Number.NaN;
    return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  const value = Number(text);
  return isNumber && Number.isFinite(value)
    ? value
    : failure("type conversion error from 'string' to 'double'");
}

function toInt(value: number): Value {
  const whole = wholePart(value);
  return whole === undefined ? failure("integer overflow") : checkedInt(whole);
}

function toUint(value: number): Value {
  const whole = wholePart(value);
  return whole === undefined ? failure("unsigned integer overflow") : checkedUint(whole);
}

function intOfText(text: string): Value {
  const value = /^[+-]?\d+$/.test(text) ? checkedInt(BigInt(text.replace(/^\+/, ""))) : undefined;
  return typeof value === "bigint" ? value : failure("type conversion error from 'string' to 'int'");
}

function uintOfText(text: string): Value {
  const value = /^\d+$/.test(text) ? checkedUint(BigInt(text)) : undefined;
  return value !== undefined && isTagged(value, "uint")
    ? value
    : failure("type conversion error from 'string' to 'uint'");
}

function floorSeconds(nanos: bigint): bigint {
  const rest = ((nanos % SECOND) + SECOND) % SECOND;
  return (nanos - rest) / SECOND;
}

function textOfBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return failure("invalid UTF-8 in bytes, cannot convert to string");
  }
}
