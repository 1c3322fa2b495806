import type { DatabaseSync } from "node:sqlite";
import type { LedgerHeader } from "../common/ledger-header.ts";
import { type Cell, sealOf } from "../common/seal.ts";
import { TableSums } from "../common/table-sums.ts";
import { type Row, unseal } from "./unseal.ts";

/** The single row of table `ledger`. */
export interface SqliteHeader extends LedgerHeader {
  /** What each table holds, as TableSums writes it. */
  readonly sums: string;
}

/** Columns of the first version, which had no sums. */
const COLUMNS_WITHOUT_SUMS = [
  "ledger_id",
  "commit_number",
  "time",
  "audit_sequence",
  "audit_hash",
  "trimmed_sequence",
  "trimmed_hash",
] as const;
const COLUMNS = [...COLUMNS_WITHOUT_SUMS, "sums"] as const;

export const SELECT_HEADER = `SELECT ${COLUMNS.join(", ")}, seal FROM ledger WHERE one = 1`;

export const INSERT_HEADER = `INSERT INTO ledger (${COLUMNS.join(", ")}, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The last parameter is the commit number that must be stored: no other process may have written. */
export const UPDATE_HEADER = `UPDATE ledger SET ${COLUMNS.map((column) => `${column} = ?`).join(", ")}, seal = ?
  WHERE one = 1 AND commit_number = ?`;

export function headerCells(header: SqliteHeader): (string | number)[] {
  const { ledgerId, commitNumber, time, audit, trimmed, sums } = header;
  const links = [audit.sequence, audit.hash, trimmed.sequence, trimmed.hash];
  const cells = [ledgerId, commitNumber, time, ...links, sums];
  return [...cells, sealOf("ledger", cells)];
}

export function headerFrom(row: Row): SqliteHeader {
  return headerOf(unseal("ledger", row, COLUMNS));
}

/** The row of the first version's table, once it has the column for the sums. */
export function headerWithSums(row: Row, sums: string): SqliteHeader {
  return headerOf([...unseal("ledger", row, COLUMNS_WITHOUT_SUMS), sums]);
}

function headerOf(cells: readonly Cell[]): SqliteHeader {
  const [ledgerId, commitNumber, time, auditSequence, auditHash, trimmedSequence, trimmedHash, sums] = cells;
  return {
    ledgerId: String(ledgerId),
    commitNumber: Number(commitNumber),
    time: Number(time),
    audit: { sequence: Number(auditSequence), hash: String(auditHash) },
    trimmed: { sequence: Number(trimmedSequence), hash: String(trimmedHash) },
    sums: String(sums),
  };
}

const TABLES = ["reservation", "closed_key", "cordon", "adoption", "advertisement", "decision"] as const;

/** Counts the rows that an older broker has written, once. From then on every transaction updates the sums. */
export function addSums(database: DatabaseSync): void {
  const row = database.prepare(SELECT_HEADER).get();
  if (row === undefined) return; // a new ledger: its header is created with empty sums
  const sums = new TableSums();
  for (const table of TABLES) {
    for (const { seal } of database.prepare(`SELECT seal FROM ${table}`).iterate())
      sums.add(table, Number(seal));
  }
  const header = headerWithSums(row, sums.text);
  database.prepare(UPDATE_HEADER).run(...headerCells(header), header.commitNumber);
}
