import { Fault } from "@resource-broker/base";

/** A place in a protobuf message. Nothing is read at or behind `end`, which moves inward with every message entered. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
  end: number;
}

export const VARINT = 0;
const FIXED_64 = 1;
export const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

const CONTINUES = 0x80;
const LONGEST_VARINT = 10;
/** Tags and lengths are 32 bits wide. */
const LONGEST_UINT = 5;
const TWO_TO_THE_32 = 2 ** 32;

/** Buffers are read as they are; other byte arrays are looked at as one, not copied. */
export function cursorOver(bytes: Uint8Array, start = 0, end = bytes.length): Cursor {
  if (!(start >= 0 && start <= end && end <= bytes.length)) {
    throw new RangeError(`there are ${bytes.length} bytes, and ${start} to ${end} is not a part of them`);
  }
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes: buffer, at: start, end };
}

export function malformed(cursor: Cursor, why: string): Fault {
  return new Fault("malformed", `the API server sent invalid protobuf: at byte ${cursor.at}, ${why}`);
}

export function wrongWireType(cursor: Cursor, tag: number): Fault {
  return malformed(cursor, `field ${tag >>> 3} has the wire type ${tag & 7}`);
}

/** Reads a tag or a length. */
export function readUint(cursor: Cursor): number {
  const { bytes, at } = cursor;
  if (at < cursor.end) {
    const first = bytes[at] ?? 0;
    if (first < CONTINUES) {
      cursor.at = at + 1;
      return first;
    }
  }
  return readLongUint(cursor);
}

function readLongUint(cursor: Cursor): number {
  const { bytes, at, end } = cursor;
  let value = 0;
  let scale = 1;
  for (let next = at; next < at + LONGEST_UINT; next++) {
    if (next >= end) throw malformed(cursor, "a number is cut off");
    const byte = bytes[next] ?? 0;
    value += (byte % CONTINUES) * scale;
    if (byte < CONTINUES) {
      if (value >= TWO_TO_THE_32) throw malformed(cursor, "a tag or a length has more than 32 bits");
      cursor.at = next + 1;
      return value;
    }
    scale *= CONTINUES;
  }
  throw malformed(cursor, `a tag or a length is longer than ${LONGEST_UINT} bytes`);
}

/** Reads a signed 64-bit number; beyond 2^53 it is as inexact as JSON's. */
export function readInt(cursor: Cursor): number {
  const first = cursor.at < cursor.end ? (cursor.bytes[cursor.at] ?? 0) : CONTINUES;
  if (first >= CONTINUES) return readLongInt(cursor);
  cursor.at += 1;
  return first;
}

function readLongInt(cursor: Cursor): number {
  const start = cursor.at;
  skipVarint(cursor);
  let value = 0n;
  for (let at = cursor.at - 1; at >= start; at--) {
    value = value * 128n + BigInt((cursor.bytes[at] ?? 0) % CONTINUES);
  }
  return Number(BigInt.asIntN(64, value));
}

/** Reads the length of what follows, all of which is there. */
export function readLength(cursor: Cursor): number {
  const length = readUint(cursor);
  const left = cursor.end - cursor.at;
  if (length > left) throw malformed(cursor, `${length} bytes are announced and ${left} are left`);
  return length;
}

/** Enters what is length-delimited here and returns where the outer message ends, to be given to `leave`. */
export function enter(cursor: Cursor): number {
  const length = readLength(cursor);
  const outer = cursor.end;
  cursor.end = cursor.at + length;
  return outer;
}

export function leave(cursor: Cursor, outer: number): void {
  cursor.at = cursor.end;
  cursor.end = outer;
}

/** Steps over the field whose tag has just been read. */
export function skip(cursor: Cursor, tag: number): void {
  if (tag < 8) throw malformed(cursor, "a field has the number 0");
  const wireType = tag & 7;
  if (wireType === LENGTH_DELIMITED) {
    const length = readLength(cursor);
    cursor.at += length;
    return;
  }
  if (wireType === VARINT) return skipVarint(cursor);
  if (wireType === FIXED_64) return advance(cursor, 8);
  if (wireType === FIXED_32) return advance(cursor, 4);
  throw malformed(cursor, `a field has the wire type ${wireType}, which Kubernetes does not use`);
}

function advance(cursor: Cursor, length: number): void {
  const next = cursor.at + length;
  if (next > cursor.end) {
    throw malformed(cursor, `${length} bytes should follow and ${cursor.end - cursor.at} are left`);
  }
  cursor.at = next;
}

function skipVarint(cursor: Cursor): void {
  const { bytes, at, end } = cursor;
  for (let next = at; next < at + LONGEST_VARINT; next++) {
    if (next >= end) throw malformed(cursor, "a number is cut off");
    if ((bytes[next] ?? 0) < CONTINUES) {
      cursor.at = next + 1;
      return;
    }
  }
  throw malformed(cursor, `a number is longer than ${LONGEST_VARINT} bytes`);
}
