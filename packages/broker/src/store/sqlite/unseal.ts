import type { SQLOutputValue } from "node:sqlite";
import { type Cell, sealOf } from "../common/seal.ts";
import { StoreFailure } from "../store.ts";

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

/** The broker stores no other types: another type is damage, and it does not fit the seal. */
function cellOf(value: SQLOutputValue | undefined): Cell {
  const isCell = typeof value === "string" || typeof value === "number" || value instanceof Uint8Array;
  return isCell ? value : `not a cell: ${typeof value}`;
}
