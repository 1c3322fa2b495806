import type { Instant } from "@resource-broker/domain";
import { StoreFailure } from "../store.ts";
import type { ChainLink } from "./audit.ts";

/** The current position of the ledger. A SQL store keeps it in one row, which every commit updates. */
export interface LedgerHeader {
  readonly ledgerId: string;
  readonly commitNumber: number;
  readonly time: Instant;
  /** The last line of the audit log. */
  readonly audit: ChainLink;
  /** The last line that was trimmed away: the chain of those that are left begins after it. */
  readonly trimmed: ChainLink;
}

/** Throws unless the oldest stored line follows the last one trimmed. `first` is 0 if no line is stored. */
export function checkAuditStart(
  first: number,
  { audit, trimmed }: Pick<LedgerHeader, "audit" | "trimmed">,
): void {
  if (audit.sequence <= trimmed.sequence || first === trimmed.sequence + 1) return;
  throw new StoreFailure(
    "corrupt",
    `the audit log begins at line ${first}, not at ${trimmed.sequence + 1} as recorded; restore a backup`,
  );
}

/** Throws unless the newest stored lines chain up to the recorded last line. */
export function checkAuditEnd(
  found: ChainLink | undefined,
  recorded: ChainLink,
  advice = "restore a backup",
): void {
  if (found?.sequence !== recorded.sequence || found.hash !== recorded.hash)
    throw new StoreFailure("corrupt", `the end of the audit log was changed; ${advice}`);
}
