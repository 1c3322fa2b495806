import type { Instant } from "@resource-broker/domain";
import type { ChainLink } from "../audit.ts";
import { type Row, sealOf, unseal } from "./seal.ts";

/** Where the ledger stands: the one row of table `ledger`. */
export interface Head {
  readonly ledgerId: string;
  readonly commitNumber: number;
  readonly time: Instant;
  /** The last line of the audit log. */
  readonly audit: ChainLink;
  /** The last line that was trimmed away: the chain of those that are left begins after it. */
  readonly trimmed: ChainLink;
}

const COLUMNS = [
  "ledger_id",
  "commit_number",
  "time",
  "audit_sequence",
  "audit_hash",
  "trimmed_sequence",
  "trimmed_hash",
] as const;

export const SELECT_HEAD = `SELECT ${COLUMNS.join(", ")}, seal FROM ledger WHERE one = 1`;

export const INSERT_HEAD = `INSERT INTO ledger (${COLUMNS.join(", ")}, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** The last parameter is the commit number that must be there before: nobody else may have written. */
export const UPDATE_HEAD = `UPDATE ledger SET ${COLUMNS.map((column) => `${column} = ?`).join(", ")}, seal = ?
  WHERE one = 1 AND commit_number = ?`;

export function headCells({ ledgerId, commitNumber, time, audit, trimmed }: Head): (string | number)[] {
  const cells = [ledgerId, commitNumber, time, audit.sequence, audit.hash, trimmed.sequence, trimmed.hash];
  return [...cells, sealOf("ledger", cells)];
}

export function headFrom(row: Row): Head {
  const [ledgerId, commitNumber, time, auditSequence, auditHash, trimmedSequence, trimmedHash] = unseal(
    "ledger",
    row,
    COLUMNS,
  );
  return {
    ledgerId: String(ledgerId),
    commitNumber: Number(commitNumber),
    time: Number(time),
    audit: { sequence: Number(auditSequence), hash: String(auditHash) },
    trimmed: { sequence: Number(trimmedSequence), hash: String(trimmedHash) },
  };
}
