import type { ChainLink } from "../audit.ts";
import { sealOf } from "../sqlite/seal.ts";
import { StoreFailure } from "../store.ts";
import type { Row, Value } from "./session.ts";

/** The current position of the ledger. It is stored in the lease's row, so that a commit checks and updates one row. */
export interface Head {
  readonly ledgerId: string;
  readonly commitNumber: number;
  readonly time: number;
  /** The last line of the audit log. */
  readonly audit: ChainLink;
  /** The last line that was trimmed away: the chain of those that are left begins after it. */
  readonly trimmed: ChainLink;
}

/** In the order of `headCells`; all but the first change. */
export const HEAD_COLUMNS = [
  "ledger_id",
  "commit_seq",
  "time",
  "audit_sequence",
  "audit_hash",
  "trimmed_sequence",
  "trimmed_hash",
  "seal",
] as const;

export const HEAD_IS_GONE = "the ledger's own row is gone; restore a backup";

export function headCells(head: Head): Value[] {
  return [...contentOf(head), sealOf("lease", contentOf(head))];
}

export function headFrom(row: Row): Head {
  const head: Head = {
    ledgerId: String(row["ledger_id"]),
    commitNumber: Number(row["commit_seq"]),
    time: Number(row["time"]),
    audit: { sequence: Number(row["audit_sequence"]), hash: String(row["audit_hash"]) },
    trimmed: { sequence: Number(row["trimmed_sequence"]), hash: String(row["trimmed_hash"]) },
  };
  if (Number(row["seal"]) === sealOf("lease", contentOf(head))) return head;
  throw new StoreFailure("corrupt", "the ledger's own row is damaged; restore a backup");
}

function contentOf({ ledgerId, commitNumber, time, audit, trimmed }: Head): (string | number)[] {
  return [ledgerId, commitNumber, time, audit.sequence, audit.hash, trimmed.sequence, trimmed.hash];
}
