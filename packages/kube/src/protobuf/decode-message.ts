import type { Field, FieldKind, MessageFields } from "./fields.ts";
import { isTextAmong, readText, readUniqueText } from "./texts.ts";
import {
  type Cursor,
  cursorOver,
  enter,
  LENGTH_DELIMITED,
  leave,
  malformed,
  readInt,
  readUint,
  skip,
  VARINT,
  wrongWireType,
} from "./wire.ts";

const KEY_TAG = (1 << 3) | LENGTH_DELIMITED;
const VALUE_TAG = (2 << 3) | LENGTH_DELIMITED;
const QUANTITY_TEXT_TAG = (1 << 3) | LENGTH_DELIMITED;

const OWN = { enumerable: true, configurable: true, writable: true } as const;

const SECONDS_TAG = (1 << 3) | VARINT;
/** The years 0000 to 9999: RFC 3339 has no others. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

type Decoded = Record<string, unknown>;
type ReadInto = (object: Decoded, cursor: Cursor) => void;

/** A field made ready: how to read it, and where to put it. */
interface FieldPlan {
  /** Its number with the only wire type it may have. */
  readonly tag: number;
  readonly readInto: ReadInto;
}

/** By field number. */
type MessagePlan = readonly (FieldPlan | undefined)[];

const plans = new WeakMap<MessageFields, MessagePlan>();

/**
 * Reads the wanted fields of a message into an object as JSON would have it. A field of another wire type than the
 * table says, or bytes that are no protobuf at all, is a `malformed` Fault. Of a message that comes in several parts,
 * which Kubernetes never writes, the last one counts.
 */
export function decodeMessage<T>(fields: MessageFields, bytes: Uint8Array): T {
  return decodeHere(fields, cursorOver(bytes));
}

/** The same for what is between the cursor and its end. */
export function decodeHere<T>(fields: MessageFields, cursor: Cursor): T {
  const object: unknown = readMessage(planOf(fields), cursor);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whoever writes the table says what it makes
  return object as T;
}

function readMessage(plan: MessagePlan, cursor: Cursor): Decoded {
  const object: Decoded = {};
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    const field = plan[tag >>> 3];
    if (field === undefined) skip(cursor, tag);
    else if (field.tag === tag) field.readInto(object, cursor);
    else throw wrongWireType(cursor, tag);
  }
  return object;
}

function planOf(fields: MessageFields): MessagePlan {
  const known = plans.get(fields);
  if (known !== undefined) return known;
  const plan: (FieldPlan | undefined)[] = [];
  for (const [key, field] of Object.entries(fields)) {
    const number = Number(key);
    // Filled up from the start: looking into an array with holes is slow.
    while (plan.length <= number) plan.push(undefined);
    plan[number] = { tag: (number << 3) | wireTypeOf(field), readInto: filtered(field, readIntoOf(field)) };
  }
  plans.set(fields, plan);
  return plan;
}

function wireTypeOf({ kind }: Field): number {
  return kind === "int" || kind === "bool" ? VARINT : LENGTH_DELIMITED;
}

const FIRST_TEXT_TAG = (1 << 3) | LENGTH_DELIMITED;

/** Steps over what the table does not ask for without reading more of it than its first text. */
function filtered({ only }: Field, readInto: ReadInto): ReadInto {
  if (only === undefined) return readInto;
  return (object, cursor) => {
    const start = cursor.at;
    const outer = enter(cursor);
    const hasText = cursor.at < cursor.end && readUint(cursor) === FIRST_TEXT_TAG;
    const isWanted = !hasText || isTextAmong(cursor, only);
    leave(cursor, outer);
    if (!isWanted) return;
    cursor.at = start;
    readInto(object, cursor);
  };
}

function readIntoOf({ name, kind, isRepeated, isKeptWhenZero, isUnique }: Field): ReadInto {
  if (kind === "string-map") return (object, cursor) => addTextEntry(mapIn(object, name), cursor);
  if (kind === "quantity-map") return (object, cursor) => addQuantityEntry(mapIn(object, name), cursor);
  const { read, zero } = valueReader(kind, isUnique === true);
  if (isRepeated === true) return (object, cursor) => addTo(object, name, read(cursor));
  const unset = isKeptWhenZero === true ? undefined : zero;
  return (object, cursor) => {
    const value = read(cursor);
    if (value !== unset && value !== undefined) object[name] = value;
  };
}

interface ValueReader {
  readonly read: (cursor: Cursor) => unknown;
  /** What Kubernetes writes where nothing is set. */
  readonly zero: unknown;
}

function valueReader(
  kind: Exclude<FieldKind, "string-map" | "quantity-map">,
  isUnique: boolean,
): ValueReader {
  switch (kind) {
    case "string":
      return { read: isUnique ? readUniqueText : readText, zero: "" };
    case "int":
      return { read: readInt, zero: 0 };
    case "bool":
      return { read: (cursor) => readInt(cursor) !== 0, zero: false };
    case "time":
      return { read: readTime, zero: undefined };
    default:
      return { read: messageReader(kind.message), zero: undefined };
  }
}

function messageReader(fields: MessageFields): (cursor: Cursor) => Decoded {
  const plan = planOf(fields);
  return (cursor) => {
    const outer = enter(cursor);
    const object = readMessage(plan, cursor);
    leave(cursor, outer);
    return object;
  };
}

function addTo(object: Decoded, name: string, value: unknown): void {
  const known = object[name];
  if (Array.isArray(known)) known.push(value);
  // Most lists have one entry; an empty array would make room for seventeen.
  else object[name] = [value];
}

function mapIn(object: Decoded, name: string): Decoded {
  const known = object[name];
  if (isMap(known)) return known;
  const map: Decoded = {};
  object[name] = map;
  return map;
}

function isMap(value: unknown): value is Decoded {
  return typeof value === "object" && value !== null;
}

/** Reads one entry of a `map<string, string>` into the map. */
function addTextEntry(map: Record<string, unknown>, cursor: Cursor): void {
  const outer = enter(cursor);
  let key = "";
  let value = "";
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag === KEY_TAG) key = readText(cursor);
    else if (tag === VALUE_TAG) value = readText(cursor);
    else skipOther(cursor, tag, 2);
  }
  leave(cursor, outer);
  put(map, key, value);
}

/** Reads one entry of a `map<string, Quantity>` into the map. */
function addQuantityEntry(map: Record<string, unknown>, cursor: Cursor): void {
  const outer = enter(cursor);
  let key = "";
  // What Go makes of a quantity that was never set.
  let value = "0";
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag === KEY_TAG) key = readText(cursor);
    else if (tag === VALUE_TAG) value = readQuantity(cursor);
    else skipOther(cursor, tag, 2);
  }
  leave(cursor, outer);
  put(map, key, value);
}

function readQuantity(cursor: Cursor): string {
  const outer = enter(cursor);
  let text = "0";
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag === QUANTITY_TEXT_TAG) text = readText(cursor);
    else skipOther(cursor, tag, 1);
  }
  leave(cursor, outer);
  return text;
}

function skipOther(cursor: Cursor, tag: number, lastKnown: number): void {
  if (tag >>> 3 <= lastKnown) throw wrongWireType(cursor, tag);
  skip(cursor, tag);
}

function put(map: Record<string, unknown>, key: string, value: string): void {
  // Plainly assigned, this one key would set the prototype instead.
  if (key === "__proto__") Object.defineProperty(map, key, { value, ...OWN });
  else map[key] = value;
}

/** Reads a Time; undefined: not set. Kubernetes itself ignores its fractions of a second. */
function readTime(cursor: Cursor): string | undefined {
  const outer = enter(cursor);
  const isSet = cursor.at < cursor.end;
  let seconds = 0;
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag === SECONDS_TAG) seconds = readInt(cursor);
    else if (tag >>> 3 === 1) throw wrongWireType(cursor, tag);
    else skip(cursor, tag);
  }
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw malformed(cursor, "a time is out of range");
  leave(cursor, outer);
  return isSet ? new Date(seconds * 1000).toISOString().replace(".000Z", "Z") : undefined;
}
