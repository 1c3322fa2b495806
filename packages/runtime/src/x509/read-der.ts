/** One element of DER: its tag, its content, and itself as bytes. */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

export const TAG = { bitString: 0x03, utcTime: 0x17, time: 0x18, sequence: 0x30 } as const;

const LONG_LENGTH = 0x80;
const MAX_LENGTH_BYTES = 4;

/** The elements that stand one after the other in `bytes`. Throws a RangeError when they are cut short. */
export function readElements(bytes: Buffer): Element[] {
  return [...elementsIn(bytes)];
}

/** The same one by one: a list of a hundred thousand is not held at once. */
export function* elementsIn(bytes: Buffer): Generator<Element> {
  for (let start = 0; start < bytes.length; ) {
    const element = readElement(bytes, start);
    yield element;
    start += element.whole.length;
  }
}

/** Follows a path of positions into nested elements. */
export function elementAt(bytes: Buffer, ...path: readonly number[]): Element {
  let content = bytes;
  let found: Element | undefined;
  for (const position of path) {
    found = readElements(content)[position];
    if (found === undefined) throw new RangeError(`DER has no element at ${path.join(".")}`);
    content = found.content;
  }
  if (found === undefined) throw new RangeError("the path is empty");
  return found;
}

/** `260701100000Z` or `20260701100000Z`. */
export function readTime({ tag, content }: Element): number {
  const digits = content.toString("latin1");
  const isShort = tag === TAG.utcTime;
  const century = isShort ? (Number(digits.slice(0, 2)) < 50 ? "20" : "19") : "";
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/u.exec(century + digits);
  if (parts === null) throw new RangeError(`DER time ${JSON.stringify(digits)} cannot be read`);
  const [year = 0, month = 1, ...rest] = parts.slice(1).map(Number);
  return Date.UTC(year, month - 1, ...rest);
}

function readElement(bytes: Buffer, start: number): Element {
  const { contentStart, length } = readHeader(bytes, start);
  const end = contentStart + length;
  if (end > bytes.length) throw new RangeError("an element is longer than what holds it");
  return {
    tag: byteAt(bytes, start),
    content: bytes.subarray(contentStart, end),
    whole: bytes.subarray(start, end),
  };
}

function readHeader(bytes: Buffer, start: number): { contentStart: number; length: number } {
  const first = byteAt(bytes, start + 1);
  if (first < LONG_LENGTH) return { contentStart: start + 2, length: first };
  const count = first - LONG_LENGTH;
  if (count === 0 || count > MAX_LENGTH_BYTES) throw new RangeError("an element has no usable length");
  const contentStart = start + 2 + count;
  if (contentStart > bytes.length) throw new RangeError("the data ends too early");
  return { contentStart, length: bytes.readUIntBE(start + 2, count) };
}

function byteAt(bytes: Buffer, offset: number): number {
  const byte = bytes[offset];
  if (byte === undefined) throw new RangeError("the data ends too early");
  return byte;
}
