import {
  type Cursor,
  enter,
  leave,
  malformed,
  readInt,
  readUint,
  skip,
  VARINT,
  wrongWireType,
} from "./wire.ts";

const SECONDS_TAG = (1 << 3) | VARINT;
/** The years 0000 to 9999: RFC 3339 has no others. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

/** Reads a Time; undefined: not set. Kubernetes itself ignores its fractions of a second. */
export function readTime(cursor: Cursor): string | undefined {
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
