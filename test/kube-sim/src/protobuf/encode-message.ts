import { Fault } from "@resource-broker/base";
import type { JsonObject, JsonValue } from "../json.ts";
import type { BackwardWriter } from "./backward-writer.ts";
import type { MessageTable, TableField } from "./message-tables.ts";
import { KUBERNETES_API, MESSAGES } from "./tables.generated.ts";
import { WRITE_SCALAR, writeQuantity, writeText } from "./write-scalar.ts";

/** Of an object that travels by itself these are in its wrapping. */
const IN_THE_WRAPPING = ["apiVersion", "kind"];

interface Encoding {
  readonly writer: BackwardWriter;
  /** Where in the object we are, for complaints. */
  readonly path: string[];
}

/**
 * Writes an object as the message of that name, byte for byte as Kubernetes' Go code does. What the tables do not know
 * cannot travel as protobuf: it is refused by its path, never left out.
 */
export function writeObject(writer: BackwardWriter, message: string, object: JsonObject): void {
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => !IN_THE_WRAPPING.includes(name)));
  writeMessage({ writer, path: [] }, message, rest);
}

function writeMessage(encoding: Encoding, message: string, object: JsonObject): void {
  const known = namesOf(message);
  for (const name in object) {
    if (isSet(object[name]) && !known.has(name))
      throw refusal(encoding, `.${name}`, `is no field of ${message}`);
  }
  writeFields(encoding, message, object);
}

function writeFields(encoding: Encoding, message: string, object: JsonObject): void {
  const table = tableOf(message);
  for (let index = table.length - 1; index >= 0; index--) {
    const field = table[index];
    if (field !== undefined) writeField(encoding, field, object);
  }
}

function writeField(encoding: Encoding, field: TableField, object: JsonObject): void {
  const { writer, path } = encoding;
  if (field.isInline === true) {
    const since = writer.length();
    writeFields(encoding, field.message ?? "", object);
    return writer.wrap(field.number, since);
  }
  const value = object[field.name] ?? undefined;
  if (value === undefined && field.isAlways !== true) return;
  path.push(`.${field.name}`);
  if (field.isRepeated === true) writeList(encoding, field, value);
  else writeValue(encoding, field, value);
  path.pop();
}

function writeList(encoding: Encoding, field: TableField, list: JsonValue | undefined): void {
  if (!Array.isArray(list)) throw refusal(encoding, "", "is no list");
  const { path } = encoding;
  const items: readonly JsonValue[] = list;
  for (let index = items.length - 1; index >= 0; index--) {
    path.push(`[${index}]`);
    writeValue(encoding, field, items[index] ?? null);
    path.pop();
  }
}

function writeValue(encoding: Encoding, field: TableField, value: JsonValue | undefined): void {
  const { writer } = encoding;
  const { kind, number } = field;
  if (kind === "message") {
    const since = writer.length();
    writeMessage(encoding, field.message ?? "", objectOf(encoding, value === undefined ? {} : value));
    return writer.wrap(number, since);
  }
  if (kind === "string-map" || kind === "quantity-map") return writeMap(encoding, field, value);
  if (!WRITE_SCALAR[kind](writer, number, value)) {
    throw refusal(encoding, "", `is ${JSON.stringify(value)}, which is no ${kind}`);
  }
}

function writeMap(encoding: Encoding, { kind, number }: TableField, value: JsonValue | undefined): void {
  const { writer } = encoding;
  const write = kind === "string-map" ? writeText : writeQuantity;
  const entries = Object.entries(objectOf(encoding, value)).toSorted(byKey).toReversed();
  for (const [key, item] of entries) {
    const isText = typeof item === "string" || (typeof item === "number" && kind === "quantity-map");
    if (!isText) throw refusal(encoding, `[${JSON.stringify(key)}]`, "is no text");
    const since = writer.length();
    write(writer, 2, String(item));
    writeText(writer, 1, key);
    writer.wrap(number, since);
  }
}

type Entry = readonly [key: string, value: unknown];

const byKey = ([a]: Entry, [b]: Entry): number => (a < b ? -1 : 1);

function objectOf(encoding: Encoding, value: JsonValue | undefined): JsonObject {
  if (isObject(value)) return value;
  throw refusal(encoding, "", `is ${JSON.stringify(value)}, which is no object`);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isSet = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

function tableOf(message: string): MessageTable {
  const table = MESSAGES[message];
  if (table === undefined) throw new Fault("internal", `there is no table of the message ${message}`);
  return table;
}

const names = new Map<string, ReadonlySet<string>>();

/** The names that JSON may have in a message. */
function namesOf(message: string): ReadonlySet<string> {
  const known = names.get(message);
  if (known !== undefined) return known;
  const found = new Set<string>();
  for (const field of tableOf(message)) {
    if (field.isInline !== true) found.add(field.name);
    else for (const name of namesOf(field.message ?? "")) found.add(name);
  }
  names.set(message, found);
  return found;
}

function refusal({ path }: Encoding, place: string, why: string): Fault {
  const where = (path.join("") + place).replace(/^\./, "");
  return new Fault("invalid", `${where} ${why} in ${KUBERNETES_API}: it cannot be written as protobuf`);
}
