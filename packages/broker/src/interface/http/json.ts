import { isUtf8 } from "node:buffer";
import { Fault } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/** Parses a body. Throws a Fault with the position of the error. If a name occurs twice, the last one counts, as in Go. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Fault("malformed", "the body is not UTF-8 text");
  const excess = excessOf(bytes);
  if (excess !== undefined) throw new Fault("malformed", excess);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    const where = error instanceof Error ? error.message : String(error);
    throw new Fault("malformed", `the body is not JSON: ${where}`, { cause: error });
  }
}

/**
 * Counts brackets, colons and commas before parsing: deeply nested JSON parses well, but overflows the stack of code that
 * walks it.
 */
function excessOf(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let names = 0;
  let commas = 0;
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case QUOTE:
        index = endOfString(bytes, index);
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (++depth > LIMIT.jsonDepth) return `the body is nested deeper than ${LIMIT.jsonDepth} levels`;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth--;
        break;
      case COLON:
        names++;
        break;
      case COMMA:
        commas++;
        break;
      default:
    }
  }
  const isTooMuch = names > LIMIT.jsonKeys || commas > LIMIT.jsonKeys;
  return isTooMuch ? `the body holds more than ${LIMIT.jsonKeys} values` : undefined;
}

function endOfString(bytes: Uint8Array, start: number): number {
  for (let index = start + 1; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === BACKSLASH) index++;
    else if (byte === QUOTE) return index;
  }
  return bytes.length;
}
