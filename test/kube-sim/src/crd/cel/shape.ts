import { isList, isObject } from "../../core/look.ts";
import type { JsonValue } from "../../json.ts";
import type { Schema } from "../schema.ts";
import { escapedName } from "./escape.ts";
import { parseDate, parseDateTime, parseLooseDuration } from "./time.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  type ObjectField,
  type ObjectType,
  STRING,
  TIMESTAMP,
  type Type,
} from "./types.ts";
import { failure, type MapKey, opaque, type Value } from "./values.ts";

/** How rules see the values of one place in a schema. */
export interface Shape {
  readonly type: Type;
  readonly read: (json: JsonValue) => Value;
}

type Read = (json: JsonValue) => Value;

/** undefined: the place is hidden from rules, because the schema does not say what is there. */
export function shapeOf(schema: Schema, isResource: boolean): Shape | undefined {
  const shape = plainShape(schema, isResource);
  if (shape === undefined) return undefined;
  const { type, read } = shape;
  return { type, read: (json) => (json === null ? null : read(json)) };
}

function plainShape(schema: Schema, isResource: boolean): Shape | undefined {
  if (schema.isIntOrString) return { type: DYN, read: readIntOrString };
  switch (schema.type) {
    case "array":
      return listShape(schema);
    case "object":
      return objectOrMapShape(schema, isResource);
    case "string":
      return stringShape(schema.format);
    case "boolean":
      return { type: BOOL, read: (json) => (typeof json === "boolean" ? json : wrong("bool")) };
    case "number":
      return { type: DOUBLE, read: (json) => (typeof json === "number" ? json : wrong("float")) };
    case "integer":
      return { type: INT, read: readInteger };
    default:
      return undefined;
  }
}

function listShape(schema: Schema): Shape | undefined {
  const item = schema.items === undefined ? undefined : shapeOf(schema.items, schema.items.isEmbedded);
  if (item === undefined) return undefined;
  const listType = schema.listType === "set" || schema.listType === "map" ? schema.listType : "atomic";
  const keys = schema.listMapKeys;
  return {
    type: listOf(item.type),
    read: (json) =>
      isList(json) ? { kind: "list", items: json.map(item.read), listType, keys } : wrong("an array"),
  };
}

function objectOrMapShape(schema: Schema, isResource: boolean): Shape | undefined {
  if (typeof schema.additional !== "object") return objectShape(schema, isResource);
  const value = shapeOf(schema.additional, schema.additional.isEmbedded);
  if (value === undefined) return undefined;
  return {
    type: mapOf(STRING, value.type),
    read: (json) =>
      isObject(json) ? { kind: "map", entries: readEntries(json, value.read) } : wrong("a map"),
  };
}

function readEntries(
  json: { readonly [name: string]: JsonValue | undefined },
  read: Read,
): Map<MapKey, Value> {
  const entries = new Map<MapKey, Value>();
  for (const name of Object.keys(json)) {
    const value = json[name];
    if (value !== undefined) entries.set(name, read(value));
  }
  return entries;
}

function objectShape(schema: Schema, isResource: boolean): Shape {
  const shapes = fieldShapes(schema, isResource);
  const fields = new Map<string, ObjectField>();
  const readers = new Map<string, Read>();
  for (const [name, shape] of shapes) {
    readers.set(name, shape.read);
    const escaped = escapedName(name);
    if (escaped !== undefined) fields.set(escaped, { name, type: shape.type });
  }
  const type: ObjectType = { kind: "object", fields };
  const read = (name: string, json: JsonValue): Value => (readers.get(name) ?? opaque)(json);
  return {
    type,
    read: (json) => (isObject(json) ? { kind: "object", raw: json, type, read } : wrong("a map")),
  };
}

/** Rules at the root of an object always see its type and its name, whatever the schema says of them. */
function fieldShapes(schema: Schema, isResource: boolean): ReadonlyMap<string, Shape> {
  const shapes = new Map<string, Shape>();
  for (const [name, field] of schema.properties) {
    const shape = shapeOf(field, field.isEmbedded);
    if (shape !== undefined) shapes.set(name, shape);
  }
  if (!isResource) return shapes;
  shapes.set("apiVersion", stringShape(""));
  shapes.set("kind", stringShape(""));
  shapes.set("metadata", METADATA);
  return shapes;
}

const METADATA: Shape = metadataShape();

function metadataShape(): Shape {
  const fields = new Map(["name", "generateName"].map((name) => [name, { name, type: STRING }]));
  const type: ObjectType = { kind: "object", fields };
  const read = (_name: string, json: JsonValue): Value => opaque(json);
  return {
    type,
    read: (json) => (isObject(json) ? { kind: "object", raw: json, type, read } : wrong("a map")),
  };
}

function stringShape(format: string): Shape {
  switch (format) {
    case "duration":
      return { type: DURATION, read: textReader(parseLooseDuration) };
    case "date":
      return { type: TIMESTAMP, read: textReader(parseDate) };
    case "date-time":
      return { type: TIMESTAMP, read: textReader(parseDateTime) };
    case "byte":
      return { type: BYTES, read: textReader(readBytes) };
    default:
      return { type: STRING, read: textReader((text) => text) };
  }
}

function textReader(read: (text: string) => Value): Read {
  return (json) => (typeof json === "string" ? read(json) : wrong("string"));
}

function readBytes(text: string): Value {
  return { kind: "bytes", bytes: Uint8Array.from(Buffer.from(text, "base64")) };
}

function readInteger(json: JsonValue): Value {
  return typeof json === "number" && Number.isInteger(json) ? BigInt(json) : wrong("int");
}

function readIntOrString(json: JsonValue): Value {
  if (typeof json === "string") return json;
  if (typeof json === "number" && Number.isInteger(json)) return BigInt(json);
  return failure("invalid data, expected XIntOrString value to be either a string or integer");
}

function wrong(expected: string): Value {
  return failure(`invalid data, expected ${expected}`);
}
