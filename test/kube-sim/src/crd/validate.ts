import { isIPv4 } from "node:net";
import {
  duplicate,
  invalid,
  jsonText,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "../api/causes.ts";
import type { Cause } from "../api/cluster-api.ts";
import { isList, isObject, isSame, type JsonObject, type JsonValue } from "../json.ts";
import { type Schema, schemaOfField } from "./schema.ts";

/** A value, and the one that it replaces, as far as that can be told. */
export interface Subject {
  readonly value: JsonValue;
  readonly path: string;
  readonly old: JsonValue | undefined;
}

/**
 * What a schema says against a value. A value that did not change is not judged again: otherwise a definition that
 * became stricter would lock every object made before.
 */
export function schemaCauses(schema: Schema, subject: Subject): readonly Cause[] {
  const { value, path, old } = subject;
  if (old !== undefined && isSame(value, old)) return [];
  const wrong = typeCauses(schema, value, path);
  if (wrong.length > 0 || value === null) return wrong;
  return [
    ...enumCauses(schema, value, path),
    ...alternativeCauses(schema, value, path),
    ...(typeof value === "string" ? textCauses(schema, value, path) : []),
    ...(typeof value === "number" ? numberCauses(schema, value, path) : []),
    ...(isList(value) ? listCauses(schema, value, path) : []),
    ...(isObject(value) ? objectCauses(schema, value, path) : []),
    ...innerSubjects(schema, subject, (name) => `.${name}`).flatMap((inner) =>
      schemaCauses(inner.schema, inner),
    ),
  ];
}

export interface InnerSubject extends Subject {
  readonly schema: Schema;
}

/** The values inside a value of which the schema knows something. `keyPath` writes the key of a map behind a path. */
export function innerSubjects(
  schema: Schema,
  { value, path, old }: Subject,
  keyPath: (name: string) => string,
): readonly InnerSubject[] {
  const { items, properties } = schema;
  if (isList(value)) {
    return value.flatMap((item, index) =>
      items === undefined
        ? []
        : [{ schema: items, value: item, path: `${path}[${index}]`, old: oldItem(schema, item, old) }],
    );
  }
  if (!isObject(value)) return [];
  const before = isObject(old) ? old : {};
  return Object.entries(value).flatMap(([name, field]) => {
    const known = schemaOfField(schema, name);
    if (known === undefined || field === undefined) return [];
    const below = properties.has(name) ? `.${name}` : keyPath(name);
    return [{ schema: known, value: field, path: `${path}${below}`.replace(/^\./u, ""), old: before[name] }];
  });
}

/** The old item that a new one follows: only lists of type map say which it is. */
function oldItem(
  { listType, listMapKeys }: Schema,
  item: JsonValue,
  old: JsonValue | undefined,
): JsonValue | undefined {
  if (listType !== "map" || !isList(old) || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && listMapKeys.every((key) => isSame(item[key], other[key])));
}

function typeCauses(schema: Schema, value: JsonValue, path: string): readonly Cause[] {
  const types = schema.isIntOrString ? ["integer", "string"] : schema.type === "" ? [] : [schema.type];
  const found = typeOf(value);
  const isRight =
    types.length === 0 ||
    types.includes(found) ||
    (found === "null" && schema.isNullable) ||
    (found === "integer" && types.includes("number"));
  return isRight
    ? []
    : [typeInvalid(path, found, `${path} in body must be of type ${types.join(",")}: "${found}"`)];
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return isList(value) ? "array" : typeof value;
}

function enumCauses(schema: Schema, value: JsonValue, path: string): readonly Cause[] {
  if (schema.enum.length === 0 || schema.enum.some((one) => isSame(one, value))) return [];
  return [
    notSupported(
      path,
      value,
      schema.enum.map((one) => (typeof one === "string" ? one : jsonText(one))),
    ),
  ];
}

function alternativeCauses({ anyOf }: Schema, value: JsonValue, path: string): readonly Cause[] {
  const isFine =
    anyOf.length === 0 ||
    anyOf.some((schema) => schemaCauses(schema, { value, path, old: undefined }).length === 0);
  return isFine ? [] : [invalid(path, "", `"${path}" must validate at least one schema (anyOf)`)];
}

/** Kubernetes stops at the first of these that fails. */
function textCauses({ limits, pattern, format }: Schema, value: string, path: string): readonly Cause[] {
  const { minLength, maxLength } = limits;
  const length = Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) return [tooLong(path, maxLength)];
  if (minLength !== undefined && length < minLength)
    return [invalid(path, value, `${path} in body should be at least ${minLength} chars long`)];
  if (pattern !== undefined && !pattern.test(value))
    return [invalid(path, value, `${path} in body should match '${pattern.source}'`)];
  if (FORMATS.get(format)?.(value) === false)
    return [typeInvalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`)];
  return [];
}

const TIME = /^\d{4}-\d{2}-\d{2}[tT]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[zZ]|[+-]\d{2}:\d{2})$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;
const CIDR = /^(.*)\/(\d|[12]\d|3[0-2])$/u;

/** The formats of our definitions and of Liqo's; Kubernetes ignores formats that it does not know. */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date-time", (text: string) => TIME.test(text) && !Number.isNaN(Date.parse(text))],
  ["byte", (text: string) => BASE64.test(text)],
  ["ipv4", isIPv4],
  ["cidr", (text: string) => isIPv4(CIDR.exec(text)?.[1] ?? "")],
]);

function numberCauses(schema: Schema, value: number, path: string): readonly Cause[] {
  const { limits, exclusiveMinimum: isExclusive } = schema;
  const { minimum, maximum } = limits;
  if (isOutOfRange(schema, value)) {
    const format = schema.format || "int64";
    return [invalid("", "", `Checked value must be of type integer with format ${format} in ${path}`)];
  }
  if (minimum !== undefined && (isExclusive ? value <= minimum : value < minimum)) {
    const than = isExclusive ? "greater than" : "greater than or equal to";
    return [invalid(path, value, `${path} in body should be ${than} ${minimum}`)];
  }
  return maximum !== undefined && value > maximum
    ? [invalid(path, value, `${path} in body should be less than or equal to ${maximum}`)]
    : [];
}

function isOutOfRange({ type, format }: Schema, value: number): boolean {
  const most = format === "int32" ? 2 ** 31 : 2 ** 63;
  return type === "integer" && (value < -most || value >= most);
}

function listCauses(schema: Schema, value: readonly JsonValue[], path: string): readonly Cause[] {
  const { limits, listType, listMapKeys } = schema;
  const size = sizeCauses([limits.minItems, limits.maxItems], [value.length, "items"], path);
  if (listType === "set") return [...size, ...duplicateCauses(value, path)];
  if (listType !== "map") return size;
  const keys = value.map((item) => (isObject(item) ? keyFields(item, listMapKeys) : item));
  return [...size, ...duplicateCauses(keys, path)];
}

function keyFields(item: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, item[key]]));
}

function duplicateCauses(keys: readonly JsonValue[], path: string): readonly Cause[] {
  const texts = keys.map(jsonText);
  return keys.flatMap((key, index) =>
    texts.indexOf(texts[index] ?? "") < index ? [duplicate(`${path}[${index}]`, key)] : [],
  );
}

function objectCauses(
  { limits, required: names }: Schema,
  value: JsonObject,
  path: string,
): readonly Cause[] {
  const size = [Object.keys(value).length, "properties"] as const;
  const missing = names.filter((name) => value[name] === undefined);
  return [
    ...sizeCauses([limits.minProperties, limits.maxProperties], size, path),
    ...missing.map((name) => required(path === "" ? name : `${path}.${name}`)),
  ];
}

function sizeCauses(
  [least, most]: readonly [number | undefined, number | undefined],
  [size, what]: readonly [number, string],
  path: string,
): readonly Cause[] {
  if (least !== undefined && size < least)
    return [invalid(path, size, `${path} in body should have at least ${least} ${what}`)];
  return most !== undefined && size > most ? [tooMany(path, size, most)] : [];
}
