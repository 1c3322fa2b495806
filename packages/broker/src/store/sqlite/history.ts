import type { DatabaseSync } from "node:sqlite";
import type { Instant } from "@resource-broker/domain";
import { type AuditLine, type ChainLink, canonical, fromCanonical, nextLink } from "../common/audit.ts";
import type { Retention } from "../common/retention.ts";
import type { TableSums } from "../common/table-sums.ts";
import type { AuditEntry, AuditQuery } from "../store.ts";
import type { Row } from "./unseal.ts";

/** What a commit added, and when: trimming keeps pace with it. */
export interface Growth {
  readonly lines: number;
  readonly now: Instant;
  readonly audit: ChainLink;
  readonly trimmed: ChainLink;
}

/**
 * Removes old history a few rows at a time, as part of each commit: more than the commit added, so that it catches up,
 * and never so much that a commit has to wait for it.
 */
export function historyTrimmer(database: DatabaseSync, retention: Retention, sums: TableSums) {
  const oldest = database.prepare("SELECT sequence, at FROM decision ORDER BY sequence LIMIT 1");
  const newest = database.prepare("SELECT max(sequence) AS sequence FROM decision");
  const removeDecisions = database.prepare(
    "DELETE FROM decision WHERE sequence < ? AND (sequence <= ? OR at < ?) RETURNING seal",
  );
  const findLine = database.prepare("SELECT sequence, line, hash FROM audit WHERE sequence = ?");
  const removeLines = database.prepare("DELETE FROM audit WHERE sequence <= ?");

  const trimDecisions = (step: number, now: Instant): void => {
    const first = oldest.get();
    if (first === undefined) return;
    const from = Number(first["sequence"]);
    const tooMany = Number(newest.get()?.["sequence"]) - retention.decisions.atMost;
    const tooOld = now - retention.decisions.forMs;
    if (from > tooMany && Number(first["at"]) >= tooOld) return;
    for (const { seal } of removeDecisions.all(from + step, tooMany, tooOld))
      sums.remove("decision", Number(seal));
  };

  const trimAudit = (step: number, { audit, trimmed, now }: Growth): ChainLink => {
    const upTo = trimmed.sequence + step;
    if (upTo >= audit.sequence) return trimmed;
    const row = findLine.get(upTo);
    if (row === undefined) return trimmed;
    const { at, sequence, hash } = lineFrom(row);
    const { atMost, forMs } = retention.audit;
    if (upTo > audit.sequence - atMost && at >= now - forMs) return trimmed;
    removeLines.run(upTo);
    return { sequence, hash };
  };

  /** Returns where the audit log begins from now on. */
  return (growth: Growth): ChainLink => {
    const step = 2 * growth.lines + 8;
    trimDecisions(step, growth.now);
    return trimAudit(step, growth);
  };
}

interface AuditLog {
  /** Appends the lines after `previous` and returns the new last link. */
  readonly append: (previous: ChainLink, lines: readonly AuditLine[]) => ChainLink;
  readonly read: (query: AuditQuery) => readonly AuditEntry[];
}

export function auditLog(database: DatabaseSync): AuditLog {
  const insert = database.prepare("INSERT INTO audit (sequence, line, hash) VALUES (?, ?, ?)");
  const select = database.prepare(
    "SELECT sequence, line, hash FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?",
  );
  return {
    append: (previous, lines) => {
      let link = previous;
      for (const line of lines) {
        const text = canonical(line);
        link = nextLink(link, text);
        insert.run(link.sequence, text, link.hash);
      }
      return link;
    },
    read: ({ after, limit }) => select.all(after, limit).map(lineFrom),
  };
}

function lineFrom(row: Row): AuditEntry {
  const line = fromCanonical(String(row["line"]));
  return { sequence: Number(row["sequence"]), ...line, hash: String(row["hash"]) };
}
