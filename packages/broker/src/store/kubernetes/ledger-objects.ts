import type { Clock } from "@resource-broker/runtime";
import type { Keep } from "../sqlite/retention.ts";
import type { AuditEntry, AuditQuery, CommitBatch } from "../store.ts";
import {
  AUDIT_PAGE_LINES,
  type AuditPage,
  auditPageOf,
  fullPages,
  pagesToTrim,
  readAudit,
  withAuditPages,
  withoutAuditPages,
} from "./audit-book.ts";
import type { Content } from "./head.ts";
import type { HeadWriter } from "./head-writer.ts";
import { beginsAs, recordPages, withLogPages, withSnapshot } from "./moves.ts";
import { bytesOf, pageName } from "./page.ts";
import { pagesIn } from "./page-ranges.ts";
import type { LedgerPages } from "./pages.ts";
import { planBatch } from "./plan-batch.ts";
import { type RecordSums, withSum } from "./record-sums.ts";
import { type Records, replay, snapshotLines } from "./records.ts";

/** Changes beyond this size move into segments, because every commit writes the whole manifest again. */
const MOVE_BYTES = 16 * 1024;
/** A batch that makes the manifest larger than this is written to segments first; an object may have a megabyte. */
const HEAVY_BYTES = 64 * 1024;
/** A new snapshot is due when the log has as many bytes as the last one, and not before so many. */
const SNAPSHOT_BYTES = 256 * 1024;
const AFTER_TROUBLE_MS = 5000;

export interface OpenedLedger {
  readonly records: Records;
  readonly sums: RecordSums;
  readonly auditPages: readonly AuditPage[];
}

export interface LedgerObjectsDeps {
  readonly head: HeadWriter;
  readonly pages: LedgerPages;
  readonly keepAudit: Keep;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  /** Called once for every stored commit, in order. */
  readonly onCommitted: (batch: CommitBatch) => void;
  readonly onTrouble: (doing: string, error: unknown) => void;
}

/** The ledger in its objects, written by the leader of the epoch alone. */
export interface LedgerObjects {
  readonly commit: (batch: CommitBatch) => Promise<void>;
  readonly lastCommit: () => Promise<number>;
  readonly readAudit: (query: AuditQuery) => Promise<readonly AuditEntry[]>;
  /** Writes a new snapshot of all records, because a segment was deleted. */
  readonly rescue: () => void;
  /** Resolves when no compaction runs. The next leader continues with what is left. */
  readonly end: () => Promise<void>;
  readonly content: () => Content;
}

/** Content after lines were moved to segments, and the new audit segments. */
interface Lighter {
  readonly content: Content;
  readonly added: readonly AuditPage[];
}

export function ledgerObjects(opened: OpenedLedger, deps: LedgerObjectsDeps): LedgerObjects {
  const { head, pages, keepAudit, clock, onCommitted, onTrouble } = deps;
  const { records, sums } = opened;
  let auditPages = opened.auditPages;
  let tidying: Promise<void> | undefined;
  let notBefore = 0;
  let isRescueDue = false;
  let cancelRescue = (): void => undefined;

  /** Creates segments from the first lines of the content. Returns a function that removes these lines from any content that starts with them. */
  const lighten = async (before: Content, isAll: boolean): Promise<(content: Content) => Lighter> => {
    const changes = isAll || bytesOf(before.changes) > MOVE_BYTES ? before.changes : [];
    const full = fullPages(before);
    const [log, audit] = await Promise.all([
      pages.createAll("log", changes),
      Promise.all(full.map((lines) => pages.create("audit", lines))),
    ]);
    return (content) => ({
      content: withAuditPages(withLogPages(content, { changes, pages: log }), audit),
      added: full.map(auditPageOf),
    });
  };

  const commit = async (batch: CommitBatch): Promise<void> => {
    await head.write(async (before) => {
      const plan = planBatch(before, records, batch);
      const isHeavy = bytesOf(plan.content.changes) + bytesOf(plan.content.audit) > HEAVY_BYTES;
      const lightened = isHeavy ? await lighten(plan.content, true) : asItIs;
      const { content: planned, added } = lightened(plan.content);
      const content = withSum(planned, sums.after(plan.changes));
      const onWritten = (): void => {
        replay(records, plan.changes);
        sums.read(plan.changes);
        auditPages = [...auditPages, ...added];
        onCommitted(batch);
      };
      return { content, onWritten };
    });
    tidyUp();
  };

  const tidyUp = (): void => {
    if (tidying !== undefined || clock.monotonicMs() < notBefore) return;
    let isOutpaced = false;
    tidying = tidy()
      .catch((error: unknown) => {
        isOutpaced = error === OUTPACED;
        if (isOutpaced) return;
        notBefore = clock.monotonicMs() + AFTER_TROUBLE_MS;
        onTrouble("compaction of the ledger failed", error);
        // Compaction can wait for the next commit; a missing segment cannot.
        if (isRescueDue) cancelRescue = clock.after(AFTER_TROUBLE_MS, tryAgain);
      })
      .finally(() => {
        tidying = undefined;
        if (isOutpaced && isRescueDue) tidyUp();
      });
  };

  /** A timer may fire slightly early, so the limit is reset: no other timer follows. */
  const tryAgain = (): void => {
    notBefore = 0;
    tidyUp();
  };

  const tidy = async (): Promise<void> => {
    const { audit, changes } = head.content();
    if (audit.length >= AUDIT_PAGE_LINES || bytesOf(changes) > MOVE_BYTES) await move();
    const { log, snapshot } = head.content().head;
    if (isRescueDue || log.bytes > Math.max(SNAPSHOT_BYTES, snapshot.bytes)) await takeSnapshot();
    if (pagesToTrim(auditPages, keepAudit, head.content().head.time) > 0) await trimAudit();
  };

  const move = async (): Promise<void> => {
    const before = head.content();
    const lightened = await lighten(before, false);
    await head.write((now) => {
      if (!beginsAs(before, now)) throw OUTPACED;
      const { content, added } = lightened(now);
      const onWritten = (): void => {
        auditPages = [...auditPages, ...added];
      };
      return { content, onWritten };
    });
  };

  const takeSnapshot = async (): Promise<void> => {
    const before = head.content();
    const lines = [...snapshotLines(records)];
    const made = await pages.createAll("snapshot", lines);
    await head.write((now) => {
      if (!beginsAs(before, now)) throw OUTPACED;
      const snapshot = { changes: before.changes, pages: made, bytes: bytesOf(lines) };
      return { content: withSnapshot(now, snapshot) };
    });
    isRescueDue = false;
    await pages.remove(recordPages(before));
  };

  const trimAudit = async (): Promise<void> => {
    let dropped: string[] = [];
    await head.write((content) => {
      const count = pagesToTrim(auditPages, keepAudit, content.head.time);
      const oldest = pagesIn(content.head.audit.pages).slice(0, count);
      dropped = oldest.map((page) => pageName("audit", page));
      const onWritten = (): void => {
        auditPages = auditPages.slice(count);
      };
      return { content: withoutAuditPages(content, auditPages.slice(0, count)), onWritten };
    });
    await pages.remove(dropped);
  };

  return {
    commit,
    lastCommit: head.lastCommit,
    readAudit: (query) => readAudit(head.content(), query, pages),
    rescue: () => {
      isRescueDue = true;
      tidyUp();
    },
    end: async () => {
      cancelRescue();
      while (tidying !== undefined) await tidying;
      cancelRescue();
    },
    content: head.content,
  };
}

/** A commit moved the same lines first: the new segments are unused, and the next leader deletes them. */
const OUTPACED = new Error("a commit was faster");

function asItIs(content: Content): Lighter {
  return { content, added: [] };
}
