import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { LedgerRecords } from "@resource-broker/domain";
import { CHAIN_START, nextLink } from "../common/audit.ts";
import { checkAuditEnd, checkAuditStart } from "../common/ledger-header.ts";
import { TableSums } from "../common/table-sums.ts";
import { StoreFailure } from "../store.ts";
import {
  headerCells,
  headerFrom,
  headerWithSums,
  INSERT_HEADER,
  SELECT_HEADER,
  type SqliteHeader,
} from "./ledger-header.ts";
import { LEDGER_TABLES } from "./schema.ts";
import type { Tables } from "./tables.ts";

/** Lines of the audit log that are checked at every start; `verify` checks them all. */
const TAIL_LINES = 100;

export function readHeader(database: DatabaseSync): SqliteHeader {
  const row = database.prepare(SELECT_HEADER).get();
  if (row === undefined) throw new StoreFailure("corrupt", "the ledger's own row is gone; restore a backup");
  return headerFrom(row);
}

/** The ledger's identity is made with its database and never again. */
export function readOrCreateHeader(database: DatabaseSync): SqliteHeader {
  const isNew = database.prepare("SELECT 1 FROM ledger").get() === undefined;
  if (isNew) {
    refuseHistory(database);
    const header = {
      ledgerId: randomUUID(),
      commitNumber: 0,
      time: 0,
      audit: CHAIN_START,
      trimmed: CHAIN_START,
      sums: new TableSums().text,
    };
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
  if (found !== undefined) {
    throw new StoreFailure("corrupt", "the ledger's own row is gone; restore a backup");
  }
}

export function readRecords(tables: Tables, { time }: SqliteHeader): LedgerRecords {
  return {
    reservations: tables.reservations.load(),
    closedKeys: [...tables.closedKeys.all()],
    cordons: [...tables.cordons.all()].map(({ clusterId, cordon }) => [clusterId, cordon] as const),
    adoption: [...tables.adoption.all()][0],
    time,
    advertisements: [...tables.advertisements.all()],
  };
}

/** Checks the database pages of the ledger's tables, but not those of its history: a start must not take longer with age. */
export function checkLedgerPages(database: DatabaseSync): void {
  for (const table of LEDGER_TABLES) {
    const finding = database.prepare(`PRAGMA quick_check(${table})`).get()?.["quick_check"];
    if (finding === "ok") continue;
    throw new StoreFailure("corrupt", `table ${table} is damaged: ${String(finding)}; restore a backup`);
  }
}

/** The newest lines must chain up to the link that the header names, and the oldest must follow the last one trimmed. */
export function checkAuditEnds(database: DatabaseSync, { audit, trimmed }: SqliteHeader): void {
  const first = Number(database.prepare("SELECT min(sequence) AS first FROM audit").get()?.["first"] ?? 0);
  checkAuditStart(first, { audit, trimmed });
  const from = Math.max(trimmed.sequence, audit.sequence - TAIL_LINES);
  const before = database.prepare("SELECT hash FROM audit WHERE sequence = ?").get(from);
  let link = { sequence: from, hash: from === trimmed.sequence ? trimmed.hash : String(before?.["hash"]) };
  for (const row of database
    .prepare("SELECT line FROM audit WHERE sequence > ? ORDER BY sequence")
    .iterate(from)) {
    link = nextLink(link, String(row["line"]));
  }
  checkAuditEnd(link, audit, "run verify, or restore a backup");
}
