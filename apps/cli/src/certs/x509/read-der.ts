/** One element of DER: its tag, its content, and itself as bytes. */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** The elements that stand one after the other in `bytes`. Throws a RangeError when they are cut short. */
export function readElements(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  for (let start = 0; start < bytes.length; ) {
    const { headerLength, length } = readHeader(bytes, start);
    const end = start + headerLength + length;
    if (end > bytes.length) throw new RangeError("DER element is longer than what holds it");
    elements.push({
      tag: bytes.readUInt8(start),
      content: bytes.subarray(start + headerLength, end),
      whole: bytes.subarray(start, end),
    });
    start = end;
  }
  return elements;
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
  if (found === undefined) throw new RangeError("an empty path leads nowhere");
  return found;
}

export function readTime({ tag, content }: Element): number {
  const digits = content.toString("latin1");
  const isShort = tag === 0x17;
  const century = isShort ? (Number(digits.slice(0, 2)) < 50 ? "20" : "19") : "";
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/u.exec(century + digits);
  if (parts === null) throw new RangeError(`DER time ${JSON.stringify(digits)} cannot be read`);
  const [year = 0, month = 1, ...rest] = parts.slice(1).map(Number);
  return Date.UTC(year, month - 1, ...rest);
}

function readHeader(bytes: Buffer, start: number): { headerLength: number; length: number } {
  const first = bytes.readUInt8(start + 1);
  if (first < 0x80) return { headerLength: 2, length: first };
  const count = first & 0x7f;
  if (count === 0 || count > 4) throw new RangeError("DER length is out of range");
  return { headerLength: 2 + count, length: bytes.readUIntBE(start + 2, count) };
}
