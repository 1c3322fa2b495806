import type { DatabaseSync } from "node:sqlite";
import type { LedgerRecords } from "@resource-broker/domain";
import {
  checkAuditEnds,
  headerCells as cellsOf,
  headerIsGone,
  headerFrom as headerOf,
  type LedgerHeader,
  newHeader,
  TAIL_LINES,
} from "../common/ledger-header.ts";
import {
  ADOPTION,
  ADVERTISEMENT,
  CLOSED_DAY,
  CLOSED_KEY,
  CORDON,
  DECISION,
  MEMBER,
  RECORD_TABLES,
  RESERVATION,
  type Row,
  unseal,
  WAITING,
} from "../common/record-tables.ts";
import { sealOf, TableSums } from "../common/seals.ts";
import { StoreFailure } from "../store.ts";
import type { Tables } from "./tables.ts";

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

const SELECT_HEADER = `SELECT ${COLUMNS.join(", ")}, seal FROM ledger WHERE one = 1`;
const INSERT_HEADER = `INSERT INTO ledger (${COLUMNS.join(", ")}, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** The last parameter is the commit number that must be stored: no other process may have written. */
export const UPDATE_HEADER = `UPDATE ledger SET ${COLUMNS.map((column) => `${column} = ?`).join(", ")}, seal = ?
  WHERE one = 1 AND commit_number = ?`;

export function headerCells(header: SqliteHeader): (string | number)[] {
  const cells = [...cellsOf(header), header.sums];
  return [...cells, sealOf("ledger", cells)];
}

function headerFrom(row: Row): SqliteHeader {
  const cells = unseal("ledger", row, COLUMNS);
  return { ...headerOf(cells), sums: String(cells.at(-1)) };
}

/** The row of the first version's table, once it has the column for the sums. */
function headerWithSums(row: Row, sums: string): SqliteHeader {
  return { ...headerOf(unseal("ledger", row, COLUMNS_WITHOUT_SUMS)), sums };
}

export function readHeader(database: DatabaseSync): SqliteHeader {
  const row = database.prepare(SELECT_HEADER).get();
  if (row === undefined) throw headerIsGone();
  return headerFrom(row);
}

export function readOrCreateHeader(database: DatabaseSync): SqliteHeader {
  const isNew = database.prepare("SELECT 1 FROM ledger").get() === undefined;
  if (isNew) {
    refuseHistory(database);
    const header = { ...newHeader(), sums: new TableSums().text };
    database.prepare(INSERT_HEADER).run(...headerCells(header));
  }
  return readHeader(database);
}

/** Of a ledger of any version; undefined: it is new. */
export function findHeader(database: DatabaseSync): SqliteHeader | undefined {
  const row = database.prepare("SELECT * FROM ledger").get();
  if (row !== undefined) return "sums" in row ? headerFrom(row) : headerWithSums(row, "{}");
  refuseHistory(database);
  return undefined;
}

/** Only a new database may have no header row. One with history has lost it. */
function refuseHistory(database: DatabaseSync): void {
  const found = database.prepare("SELECT 1 FROM audit UNION ALL SELECT 1 FROM reservation LIMIT 1").get();
  if (found !== undefined) throw headerIsGone();
}

/** When rows were first counted: a table of a later schema is not there yet, and is empty when it is created. */
const TABLES_OF_SCHEMA_3 = [RESERVATION, CLOSED_KEY, CORDON, ADOPTION, ADVERTISEMENT, DECISION];

/** Counts the rows that an older broker has written, once. From then on every transaction updates the sums. */
export function addSums(database: DatabaseSync): void {
  const row = database.prepare(SELECT_HEADER).get();
  if (row === undefined) return; // a new ledger: its header is created with empty sums
  const sums = new TableSums();
  for (const { table } of TABLES_OF_SCHEMA_3) {
    for (const { seal } of database.prepare(`SELECT seal FROM ${table}`).iterate())
      sums.add(table, Number(seal));
  }
  const header = headerWithSums(row, sums.text);
  database.prepare(UPDATE_HEADER).run(...headerCells(header), header.commitNumber);
}

export function readRecords({ all }: Tables, { time }: SqliteHeader): LedgerRecords {
  return {
    reservations: [...all(RESERVATION)],
    waiting: [...all(WAITING)],
    closedDays: [...all(CLOSED_DAY)],
    closedKeys: [...all(CLOSED_KEY)],
    cordons: Array.from(all(CORDON), ({ clusterId, cordon }) => [clusterId, cordon] as const),
    adoption: [...all(ADOPTION)][0],
    members: [...all(MEMBER)],
    time,
    advertisements: [...all(ADVERTISEMENT)],
  };
}

/** Checks the database pages of the ledger's tables, but not those of its history: a start must not take longer with age. */
export function checkLedgerPages(database: DatabaseSync): void {
  const records = RECORD_TABLES.filter(({ isHistory }) => isHistory !== true);
  for (const table of ["ledger", ...records.map((each) => each.table)]) {
    const finding = database.prepare(`PRAGMA quick_check(${table})`).get()?.["quick_check"];
    if (finding === "ok") continue;
    throw new StoreFailure("corrupt", `table ${table} is damaged: ${String(finding)}; restore a backup`);
  }
}

/** `verify` checks all lines. */
export function checkAudit(database: DatabaseSync, header: SqliteHeader): void {
  const first = Number(database.prepare("SELECT min(sequence) AS first FROM audit").get()?.["first"] ?? 0);
  const newest = "SELECT sequence, line, hash FROM audit ORDER BY sequence DESC LIMIT ?";
  const tail = database.prepare(newest).all(TAIL_LINES);
  checkAuditEnds({ first, tail }, header, "run verify, or restore a backup");
}
