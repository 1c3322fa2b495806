/** One element of DER: its tag, and where its content lies. */
export interface Element {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

export const TAG = { integer: 0x02, bitString: 0x03, oid: 0x06, utcTime: 0x17, time: 0x18, sequence: 0x30 };

const LONG_LENGTH = 0x80;
const MAX_LENGTH_BYTES = 4;

/** Reads the element at `offset`, which must end before `limit`. Throws on anything that is not plain DER. */
export function readElement(bytes: Uint8Array, offset: number, limit: number): Element {
  const tag = byteAt(bytes, offset, limit);
  const first = byteAt(bytes, offset + 1, limit);
  if (first < LONG_LENGTH) return within({ tag, start: offset + 2, end: offset + 2 + first }, limit);
  const count = first - LONG_LENGTH;
  if (count === 0 || count > MAX_LENGTH_BYTES) throw new Error("an element has no usable length");
  let length = 0;
  for (let index = 0; index < count; index++)
    length = length * 256 + byteAt(bytes, offset + 2 + index, limit);
  const start = offset + 2 + count;
  return within({ tag, start, end: start + length }, limit);
}

/** The elements inside another one, in order. */
export function* elementsIn(bytes: Uint8Array, { start, end }: Omit<Element, "tag">): Generator<Element> {
  for (let offset = start; offset < end; ) {
    const element = readElement(bytes, offset, end);
    yield element;
    offset = element.end;
  }
}

export function contentOf(bytes: Uint8Array, { start, end }: Element): Uint8Array {
  return bytes.subarray(start, end);
}

function byteAt(bytes: Uint8Array, offset: number, limit: number): number {
  const byte = offset < limit ? bytes[offset] : undefined;
  if (byte === undefined) throw new Error("the data ends too early");
  return byte;
}

function within(element: Element, limit: number): Element {
  if (element.end > limit) throw new Error("an element is longer than what holds it");
  return element;
}
