/**
 * The part of DER that certificates and revocation lists are written in. Node's crypto signs and reads
 * certificates but cannot make them; for these few shapes a library would be the larger risk beside a CA's key.
 */
export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => element(0x31, ...parts);
export const octetString = (content: Uint8Array): Buffer => element(0x04, content);
export const utf8String = (text: string): Buffer => element(0x0c, Buffer.from(text, "utf8"));
export const bitString = (bytes: Uint8Array): Buffer => element(0x03, Uint8Array.of(0), bytes);
export const enumerated = (value: number): Buffer => element(0x0a, Uint8Array.of(value));
export const TRUE: Uint8Array = Uint8Array.of(0x01, 1, 0xff);

/** `[number]` around whole elements. */
export const tagged = (number: number, ...parts: readonly Uint8Array[]): Buffer =>
  element(0xa0 | number, ...parts);
/** `[number]` instead of a plain element's own tag. */
export const retagged = (number: number, content: Uint8Array): Buffer => element(0x80 | number, content);

/** A number that is not negative, from its bytes, the highest first. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Uint8Array.of(0) : bytes.subarray(first);
  const isReadAsNegative = (digits[0] ?? 0) >= 0x80;
  return element(0x02, Uint8Array.of(...(isReadAsNegative ? [0] : [])), digits);
}

export function smallInteger(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return integer(bytes);
}

/** Named bits of one byte, as in keyUsage: bit 0 is the highest; trailing zeros are left out. */
export function namedBits(bits: readonly number[]): Buffer {
  const byte = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  return element(0x03, Uint8Array.of(7 - Math.max(...bits), byte));
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** RFC 5280: two digits of the year through 2049, four after it; never fractions of a second. */
export function time(instant: number): Buffer {
  const date = new Date(instant);
  const digits = `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/gu, "")}Z`;
  const isShort = date.getUTCFullYear() < 2050;
  return element(isShort ? 0x17 : 0x18, Buffer.from(isShort ? digits.slice(2) : digits, "latin1"));
}

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.of(tag, ...lengthBytes(length)), ...parts]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift(0x80 | (rest % 128));
  }
  return bytes;
}
