import { randomUUID } from "node:crypto";
import type { Instant } from "@resource-broker/domain";
import { StoreFailure } from "../store.ts";
import { CHAIN_START, type ChainLink, nextLink } from "./audit.ts";
import type { Row } from "./record-tables.ts";

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

/** A ledger's identity is made with its tables and never again. */
export function newHeader(): LedgerHeader {
  return { ledgerId: randomUUID(), commitNumber: 0, time: 0, audit: CHAIN_START, trimmed: CHAIN_START };
}

/** The header as the columns of its row, without the seal. */
export function headerCells(header: LedgerHeader): (string | number)[] {
  const { ledgerId, commitNumber, time, audit, trimmed } = header;
  return [ledgerId, commitNumber, time, audit.sequence, audit.hash, trimmed.sequence, trimmed.hash];
}

export function headerFrom(cells: readonly unknown[]): LedgerHeader {
  const [ledgerId, commitNumber, time, auditSequence, auditHash, trimmedSequence, trimmedHash] = cells;
  return {
    ledgerId: String(ledgerId),
    commitNumber: Number(commitNumber),
    time: Number(time),
    audit: { sequence: Number(auditSequence), hash: String(auditHash) },
    trimmed: { sequence: Number(trimmedSequence), hash: String(trimmedHash) },
  };
}

export function headerIsGone(): StoreFailure {
  return new StoreFailure("corrupt", "the ledger's own row is gone; restore a backup");
}

/** Every step of a schema that was taken has a row in this table. */
export function selectSchemaVersion(table: string): string {
  return `SELECT count(*) AS count, coalesce(max(number), 0) AS highest FROM ${table}`;
}

/** The highest step that was taken; 0 for a database without any. */
export function schemaVersion(row: Row | undefined): number {
  if (row?.["count"] !== row?.["highest"])
    throw new StoreFailure("corrupt", "the list of schema migrations has a gap; restore a backup");
  return Number(row?.["count"]);
}

/** `name`: what was written. */
export function tooNew(name: string, version: number, known: number): StoreFailure {
  return new StoreFailure(
    "not-committed",
    `${name} was written by a newer broker (schema ${version}, this one knows ${known}): ` +
      "start that version or newer, or restore a backup made by this one",
  );
}

/** Lines of the audit log that are checked at every start. */
export const TAIL_LINES = 100;

/** Both ends of the stored audit log. */
export interface AuditEnds {
  /** Number of the oldest line; 0 if no line is stored. */
  readonly first: number;
  /** The newest lines, the newest first. */
  readonly tail: readonly Row[];
}

/** Throws unless the oldest line follows the last one trimmed, and the newest lines chain up to the recorded last line. */
export function checkAuditEnds({ first, tail }: AuditEnds, header: LedgerHeader, advice?: string): void {
  const { audit, trimmed } = header;
  if (audit.sequence > trimmed.sequence && first !== trimmed.sequence + 1) {
    const message = `the audit log begins at line ${first}, not at ${trimmed.sequence + 1} as recorded; restore a backup`;
    throw new StoreFailure("corrupt", message);
  }
  const lines = tail.toReversed();
  const [oldest] = lines;
  const isWhole = oldest === undefined || Number(oldest["sequence"]) === first;
  let link = isWhole ? trimmed : { sequence: Number(oldest["sequence"]), hash: String(oldest["hash"]) };
  for (const { line } of isWhole ? lines : lines.slice(1)) link = nextLink(link, String(line));
  checkAuditEnd(link, audit, advice);
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
