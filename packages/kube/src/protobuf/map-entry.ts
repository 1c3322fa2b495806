import { readText } from "./texts.ts";
import { type Cursor, enter, LENGTH_DELIMITED, leave, readUint, skip, wrongWireType } from "./wire.ts";

const KEY_TAG = (1 << 3) | LENGTH_DELIMITED;
const VALUE_TAG = (2 << 3) | LENGTH_DELIMITED;
const QUANTITY_TEXT_TAG = (1 << 3) | LENGTH_DELIMITED;

/** Reads one entry of a `map<string, string>` into the map. */
export function addTextEntry(map: Record<string, unknown>, cursor: Cursor): void {
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
export function addQuantityEntry(map: Record<string, unknown>, cursor: Cursor): void {
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

const OWN = { enumerable: true, configurable: true, writable: true } as const;
