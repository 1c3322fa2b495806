import { auditLines, type ChainLink, canonical, nextLink } from "../audit.ts";
import { durableEvents, latestOf } from "../changes.ts";
import { type CommitBatch, StoreFailure } from "../store.ts";
import { auditText } from "./audit-book.ts";
import type { Content } from "./head.ts";
import { changeLines, type Records } from "./records.ts";

/** The head as the batch leaves it, and the lines that the batch adds to the records. */
export interface PlannedBatch {
  readonly content: Content;
  readonly changes: readonly string[];
}

/** Throws when the batch is not the next one, or contradicts the records. */
export function planBatch(content: Content, records: Records, batch: CommitBatch): PlannedBatch {
  const { head: manifest } = content;
  if (batch.number !== manifest.commitNumber + 1) {
    const message = `commit ${batch.number} cannot follow commit ${manifest.commitNumber}`;
    throw new StoreFailure("not-committed", message);
  }
  const changes = linesOf(batch, () => changeLines(batch, records));
  let last: ChainLink = manifest.audit.last;
  const audit = auditLines(batch).map((line) => {
    const text = canonical(line);
    last = nextLink(last, text);
    return auditText(last.hash, text);
  });
  return {
    changes,
    content: {
      head: {
        ...manifest,
        commitNumber: batch.number,
        time: Math.max(manifest.time, latestOf(durableEvents(batch))),
        audit: { ...manifest.audit, last },
      },
      changes: [...content.changes, ...changes],
      audit: [...content.audit, ...audit],
    },
  };
}

function linesOf({ number }: CommitBatch, lines: () => string[]): string[] {
  try {
    return lines();
  } catch (error) {
    throw new StoreFailure("corrupt", `commit ${number} contradicts the ledger: ${String(error)}`, {
      cause: error,
    });
  }
}
