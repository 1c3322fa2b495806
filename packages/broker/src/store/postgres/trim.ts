import type { ChainLink } from "../common/audit.ts";
import type { LedgerHeader } from "../common/ledger-header.ts";
import type { Keep } from "../common/retention.ts";
import type { Session, Statement } from "./session.ts";

/** Removed at a time: more would hold up commits. */
const TRIM_BATCH = 5000;
const MAX_TERMS = 1000;

/** What is kept, at this time of the ledger. */
export interface Limits {
  readonly keep: Keep;
  readonly now: number;
}

/** Old decisions, not more than are removed at a time. */
export interface OldDecisions {
  readonly before: number;
  readonly tooMany: number;
  readonly tooOld: number;
}

/** The decisions that are too old or too many; undefined: there are none. */
export async function decisionsToTrim(
  session: Session,
  schema: string,
  { keep, now }: Limits,
): Promise<OldDecisions | undefined> {
  const table = `${schema}.decision`;
  const { rows } = await session.send({
    text: `SELECT sequence, at, (SELECT max(sequence) FROM ${table}) AS newest
      FROM ${table} ORDER BY sequence LIMIT 1`,
  });
  const [first] = rows;
  if (first === undefined) return undefined;
  const from = Number(first["sequence"]);
  const tooMany = Number(first["newest"]) - keep.atMost;
  const tooOld = now - keep.forMs;
  const isDue = from <= tooMany || Number(first["at"]) < tooOld;
  return isDue ? { before: from + TRIM_BATCH, tooMany, tooOld } : undefined;
}

export function removeDecisions(schema: string, { before, tooMany, tooOld }: OldDecisions): Statement {
  return {
    text: `DELETE FROM ${schema}.decision WHERE sequence < $1 AND (sequence <= $2 OR at < $3)`,
    values: [before, tooMany, tooOld],
  };
}

/** The last line of the audit log that need not be kept; undefined: all of it is. */
export async function lastLineToTrim(
  session: Session,
  schema: string,
  { audit, trimmed, keep, now }: Limits & Pick<LedgerHeader, "audit" | "trimmed">,
): Promise<ChainLink | undefined> {
  const tooMany = audit.sequence - keep.atMost;
  const { rows } = await session.send({
    text: `SELECT sequence, hash FROM ${schema}.audit
      WHERE sequence <= $1 AND (sequence <= $2 OR at < $3) ORDER BY sequence DESC LIMIT 1`,
    // The newest line stays: the chain continues from it.
    values: [Math.min(trimmed.sequence + TRIM_BATCH, audit.sequence - 1), tooMany, now - keep.forMs],
  });
  const [last] = rows;
  return last && { sequence: Number(last["sequence"]), hash: String(last["hash"]) };
}

/** A deposed leader needs the next term within minutes; older terms are for operators. */
export function removeTerms(schema: string, epoch: number): Statement {
  return { text: `DELETE FROM ${schema}.term WHERE epoch < $1`, values: [epoch - MAX_TERMS] };
}

export function removeAuditLines(schema: string, { sequence }: ChainLink): Statement {
  return { text: `DELETE FROM ${schema}.audit WHERE sequence <= $1`, values: [sequence] };
}
