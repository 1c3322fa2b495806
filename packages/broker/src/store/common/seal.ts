import { crc32 } from "node:zlib";

/** A value of one column. */
export type Cell = string | number | Uint8Array;

/**
 * A checksum over one row's content and the table it belongs to. A database checks the structure of its pages but not
 * the values in them: the seal detects a flipped bit in a row. It guards against faulty disks, not against people.
 */
export function sealOf(table: string, cells: readonly Cell[]): number {
  let checksum = crc32(table);
  for (const cell of cells)
    checksum = crc32(typeof cell === "number" ? String(cell) : cell, crc32("\n", checksum));
  return checksum;
}
