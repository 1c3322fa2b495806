/**
 * Just enough DER to write certificates by hand. A library that builds only right certificates cannot build the
 * wrong ones that hostile tests need, and a second writer keeps the one in `brokerctl certs` honest.
 */
export type Der = Uint8Array;

const STRING_TAGS = {
  utf8: 0x0c,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  universal: 0x1c,
  bmp: 0x1e,
} as const;

export type StringType = keyof typeof STRING_TAGS;

export const sequence = (...parts: readonly Der[]): Der => element(0x30, ...parts);
export const set = (...parts: readonly Der[]): Der => element(0x31, ...parts);
export const octetString = (...parts: readonly Der[]): Der => element(0x04, ...parts);
export const boolean = (value: boolean): Der => element(0x01, Uint8Array.of(value ? 0xff : 0));
export const NULL: Der = Uint8Array.of(0x05, 0);

/** `[number]` with further elements inside. */
export const explicit = (number: number, ...parts: readonly Der[]): Der => element(0xa0 | number, ...parts);
/** `[number]` in place of a primitive type's own tag. */
export const implicit = (number: number, content: Uint8Array): Der => element(0x80 | number, content);

export function element(tag: number, ...parts: readonly Uint8Array[]): Der {
  const content = Buffer.concat(parts);
  return Buffer.concat([Uint8Array.of(tag), lengthOf(content.length), content]);
}

export function integer(value: bigint | number): Der {
  const hex = BigInt(value).toString(16);
  return unsignedInteger(Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex"));
}

/** An INTEGER from big-endian bytes; a zero byte keeps the first bit from reading as a minus. */
export function unsignedInteger(bytes: Uint8Array): Der {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Uint8Array.of(0) : bytes.subarray(start);
  return element(0x02, (digits[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array(), digits);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Der {
  return element(0x03, Uint8Array.of(unusedBits), bytes);
}

/** A BIT STRING of named bits, bit 0 first; DER leaves trailing zeros out. */
export function namedBits(bits: readonly number[]): Der {
  const highest = Math.max(-1, ...bits);
  const bytes = new Uint8Array(Math.ceil((highest + 1) / 8));
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return bitString(bytes, bytes.length === 0 ? 0 : 7 - (highest & 7));
}

export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

export function text(value: string, type: StringType): Der {
  return element(STRING_TAGS[type], encoded(value, type));
}

/** UTCTime through 2049 and GeneralizedTime after it, as RFC 5280 asks. */
export function time(instant: Date): Der {
  const digits = instant.toISOString().replaceAll(/[-:T]|\.\d+/gu, "");
  const isShort = instant.getUTCFullYear() < 2050;
  return element(isShort ? 0x17 : 0x18, Buffer.from(isShort ? digits.slice(2) : digits, "latin1"));
}

function encoded(value: string, type: StringType): Uint8Array {
  if (type === "utf8") return Buffer.from(value, "utf8");
  if (type === "bmp") return Buffer.from(value, "utf16le").swap16();
  if (type === "universal")
    return Uint8Array.from(Array.from(value, (letter) => fourBytes(letter.codePointAt(0) ?? 0)).flat());
  return Buffer.from(value, "latin1");
}

function fourBytes(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

function lengthOf(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const bytes = fourBytes(length);
  const digits = bytes.slice(bytes.findIndex((byte) => byte !== 0));
  return Uint8Array.of(0x80 | digits.length, ...digits);
}
