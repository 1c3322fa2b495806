import { type Cursor, readLength } from "./wire.ts";

/** A few thousand label keys, resource names, quantities and node names repeat. */
const SLOTS = 8192;
/** Longer texts hardly repeat. */
const LONGEST_REMEMBERED = 128;

/**
 * Texts that were read before, so that one that repeats is neither decoded nor allocated again. Every text has one
 * slot, found by its bytes; a newcomer takes the slot over, so the table cannot grow.
 */
const remembered: string[] = Array.from<string>({ length: SLOTS }).fill("");

/** Reads the length-delimited text at the cursor. */
export function readText(cursor: Cursor): string {
  const length = readLength(cursor);
  const { bytes, at } = cursor;
  const end = at + length;
  cursor.at = end;
  if (length > LONGEST_REMEMBERED) return bytes.toString("utf8", at, end);
  const slot = hashOf(bytes, at, end) & (SLOTS - 1);
  const known = remembered[slot] ?? "";
  if (known.length === length && isWrittenAt(known, bytes, at)) return known;
  const text = bytes.toString("utf8", at, end);
  if (text.length === length) remembered[slot] = text;
  return text;
}

/** Whether the length-delimited text at the cursor is one of these, all of them ASCII. The cursor moves behind it. */
export function isTextAmong(cursor: Cursor, texts: readonly string[]): boolean {
  const length = readLength(cursor);
  const start = cursor.at;
  cursor.at += length;
  for (const text of texts) {
    if (text.length === length && isWrittenAt(text, cursor.bytes, start)) return true;
  }
  return false;
}

/** Reads a text that is not expected to come again. */
export function readUniqueText(cursor: Cursor): string {
  const length = readLength(cursor);
  const start = cursor.at;
  cursor.at += length;
  return cursor.bytes.toString("utf8", start, cursor.at);
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash ^ (hash >>> 13);
}

/**
 * Whether the bytes are this text. A remembered text has as many characters as bytes, so each is ASCII or stands for a
 * byte that is not UTF-8; the code of the latter is no byte, and what holds it is decoded anew each time.
 */
function isWrittenAt(text: string, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}
