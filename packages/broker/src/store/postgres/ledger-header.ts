import type { LedgerHeader } from "../common/ledger-header.ts";
import { sealOf } from "../common/seal.ts";
import { StoreFailure } from "../store.ts";
import type { Row, Value } from "./session.ts";

/** The header is stored in the lease's row, so that a commit checks and updates one row. In the order of `headerCells`; all but the first change. */
export const HEADER_COLUMNS = [
  "ledger_id",
  "commit_seq",
  "time",
  "audit_sequence",
  "audit_hash",
  "trimmed_sequence",
  "trimmed_hash",
  "seal",
] as const;

export const HEADER_IS_MISSING = "the ledger's own row is gone; restore a backup";

export function headerCells(header: LedgerHeader): Value[] {
  return [...contentOf(header), sealOf("lease", contentOf(header))];
}

export function headerFrom(row: Row): LedgerHeader {
  const header: LedgerHeader = {
    ledgerId: String(row["ledger_id"]),
    commitNumber: Number(row["commit_seq"]),
    time: Number(row["time"]),
    audit: { sequence: Number(row["audit_sequence"]), hash: String(row["audit_hash"]) },
    trimmed: { sequence: Number(row["trimmed_sequence"]), hash: String(row["trimmed_hash"]) },
  };
  if (Number(row["seal"]) === sealOf("lease", contentOf(header))) return header;
  throw new StoreFailure("corrupt", "the ledger's own row is damaged; restore a backup");
}

function contentOf({ ledgerId, commitNumber, time, audit, trimmed }: LedgerHeader): (string | number)[] {
  return [ledgerId, commitNumber, time, audit.sequence, audit.hash, trimmed.sequence, trimmed.hash];
}
