/**
 * Builds a protobuf message from its end to its start: a length stands before what it measures, and written backwards
 * it is known by the time it is needed.
 */
export interface BackwardWriter {
  /** How many bytes there are so far. */
  readonly length: () => number;
  readonly uint: (value: number) => void;
  /** A signed number; a negative one takes ten bytes. */
  readonly int: (value: number) => void;
  readonly text: (value: string) => void;
  readonly bytes: (value: Uint8Array) => void;
  /** What was written since there were `since` bytes becomes the content of a length-delimited field. */
  readonly wrap: (fieldNumber: number, since: number) => void;
  /** The same for content of that length which is not here. */
  readonly lengthOf: (fieldNumber: number, length: number) => void;
  /** The message; the writer is done. */
  readonly take: () => Uint8Array;
}

const CONTINUES = 0x80;
const SHORT = 64;
const VARINT = 0;
const LENGTH_DELIMITED = 2;
const START_BYTES = 4 * 1024;
const LONGEST_VARINT = 10;
/** The most UTF-8 bytes a UTF-16 unit can become. */
const BYTES_PER_UNIT = 3;

export const varintTag = (fieldNumber: number): number => fieldNumber * 8 + VARINT;

export function backwardWriter(): BackwardWriter {
  let buffer = Buffer.allocUnsafe(START_BYTES);
  let at = buffer.length;

  function reserve(bytes: number): void {
    if (at >= bytes) return;
    const length = buffer.length - at;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + bytes));
    buffer.copy(larger, larger.length - length, at);
    at = larger.length - length;
    buffer = larger;
  }

  function bytes(source: Uint8Array): void {
    reserve(source.length);
    at -= source.length;
    buffer.set(source, at);
  }

  function uint(value: number): void {
    reserve(LONGEST_VARINT);
    let size = 1;
    for (let rest = value; rest >= CONTINUES; rest = Math.floor(rest / CONTINUES)) size += 1;
    at -= size;
    let rest = value;
    for (let index = 0; index < size - 1; index++) {
      buffer[at + index] = (rest % CONTINUES) + CONTINUES;
      rest = Math.floor(rest / CONTINUES);
    }
    buffer[at + size - 1] = rest;
  }

  /** Short texts are mostly ASCII, and then faster written here. */
  function asciiText(value: string): boolean {
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code >= CONTINUES) return false;
      buffer[at - value.length + index] = code;
    }
    at -= value.length;
    return true;
  }

  function lengthOf(fieldNumber: number, size: number): void {
    uint(size);
    uint(fieldNumber * 8 + LENGTH_DELIMITED);
  }

  const length = (): number => buffer.length - at;

  return {
    length,
    uint,
    bytes,
    int: (value) => (value < 0 ? bytes(negative(value)) : uint(value)),
    text(value) {
      reserve(value.length * BYTES_PER_UNIT);
      if (value.length <= SHORT && asciiText(value)) return;
      const size = Buffer.byteLength(value);
      at -= size;
      buffer.write(value, at, size);
    },
    wrap: (fieldNumber, since) => lengthOf(fieldNumber, length() - since),
    lengthOf,
    // A copy: the objects of a list live on, and would keep all the room that was reserved.
    take: () => Uint8Array.from(buffer.subarray(at)),
  };
}

/** As a 64-bit number: ten groups of seven bits, the last with the sign alone. */
function negative(value: number): Uint8Array {
  const bits = BigInt.asUintN(64, BigInt(value));
  const groups = Uint8Array.from({ length: LONGEST_VARINT }, (_, index) =>
    Number(((bits >> BigInt(7 * index)) & 127n) | 128n),
  );
  groups[LONGEST_VARINT - 1] = 1;
  return groups;
}
