import type { Cell } from "../sqlite/seal.ts";

export type ElementType = "text" | "bigint" | "bytea";

/** The numbers by which PostgreSQL knows these types; they never change. */
const OID = { text: 25, bigint: 20, bytea: 17 } as const;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;

/**
 * An array as PostgreSQL itself would send it. As text every element would be quoted here and parsed there, and bytes
 * would be twice as long: for a large batch that is most of the work.
 */
export function arrayValue(type: ElementType, elements: readonly Cell[]): Buffer {
  const parts = elements.map((element) => elementValue(type, element));
  const size = parts.reduce((sum, part) => sum + LENGTH_BYTES + part.length, HEADER_BYTES);
  const value = Buffer.allocUnsafe(size);
  // One dimension, no nulls, the type, so many elements, counted from 1.
  let at = [1, 0, OID[type], elements.length, 1].reduce((from, field) => value.writeInt32BE(field, from), 0);
  for (const part of parts) {
    at = value.writeInt32BE(part.length, at);
    value.set(part, at);
    at += part.length;
  }
  return value;
}

function elementValue(type: ElementType, element: Cell): Uint8Array {
  if (type !== "bigint") return typeof element === "object" ? element : Buffer.from(String(element));
  const value = Buffer.allocUnsafe(BIGINT_BYTES);
  value.writeBigInt64BE(BigInt(Number(element)));
  return value;
}
