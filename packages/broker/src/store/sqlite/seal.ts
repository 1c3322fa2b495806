import type { SQLOutputValue } from "node:sqlite";
import { crc32 } from "node:zlib";
import { StoreFailure } from "../store.ts";

export type Cell = string | number | Uint8Array;

/**
 * A checksum over one row's content and the table it belongs to. SQLite checks the structure of its pages but not the
 * values in them: with the seal, no flipped bit in a row goes unseen. It guards against faulty disks, not against people.
 */
export function sealOf(table: string, cells: readonly Cell[]): number {
  let checksum = crc32(table);
  for (const cell of cells)
    checksum = crc32(typeof cell === "number" ? String(cell) : cell, crc32("\n", checksum));
  return checksum;
}

/** A row as SQLite returns it. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** The cells of the named columns, in that order, once the row's seal was found to fit them. */
export function unseal(table: string, row: Row, columns: readonly string[]): Cell[] {
  const cells = columns.map((column) => cellOf(row[column]));
  if (row["seal"] === sealOf(table, cells)) return cells;
  throw new StoreFailure(
    "corrupt",
    `a row of table ${table} (${String(cells[0])}) is damaged; restore a backup`,
  );
}

/** Nothing else is ever stored; it must be damage, and will not fit the seal. */
function cellOf(value: SQLOutputValue | undefined): Cell {
  const isCell = typeof value === "string" || typeof value === "number" || value instanceof Uint8Array;
  return isCell ? value : `not a cell: ${typeof value}`;
}
