import type { DatabaseSync } from "node:sqlite";
import { type AuditLine, type ChainLink, canonical, fromCanonical, nextLink } from "../audit.ts";
import type { AuditEntry, AuditQuery } from "../store.ts";
import type { Row } from "./seal.ts";

export interface AuditLog {
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

export function lineFrom(row: Row): AuditEntry {
  const line = fromCanonical(String(row["line"]));
  return { sequence: Number(row["sequence"]), ...line, hash: String(row["hash"]) };
}
