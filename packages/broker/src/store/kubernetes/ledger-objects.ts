import type { MachineTime } from "@resource-broker/runtime";
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
import { bytesOf, type PageId, pageName } from "./page.ts";
import { pagesIn, withPages } from "./page-ranges.ts";
import type { LedgerPages } from "./pages.ts";
import { planBatch } from "./plan-batch.ts";
import { type Records, replay, snapshotLines } from "./records.ts";

/** Changes beyond this leave the head: it is written with every commit, and whatever is in it is written again. */
const MOVE_BYTES = 16 * 1024;
/** The largest head: its object may carry a megabyte, and one character may be three bytes. */
const HEAVY_BYTES = 256 * 1024;
/** A new snapshot is due when the log has as many bytes as the last one, and not before so many. */
const SNAPSHOT_BYTES = 256 * 1024;
const AFTER_TROUBLE_MS = 5000;

export interface OpenedLedger {
  readonly records: Records;
  readonly auditPages: readonly AuditPage[];
}

export interface LedgerObjectsDeps {
  readonly head: HeadWriter;
  readonly pages: LedgerPages;
  readonly keepAudit: Keep;
  readonly machine: Pick<MachineTime, "monotonicMs">;
  /** Told once of every commit that is there, in order. */
  readonly onCommitted: (batch: CommitBatch) => void;
  readonly onTrouble: (doing: string, error: unknown) => void;
}

/** The ledger in its objects, written by the leader of the epoch alone. */
export interface LedgerObjects {
  readonly commit: (batch: CommitBatch) => Promise<void>;
  readonly lastCommit: () => Promise<number>;
  readonly readAudit: (query: AuditQuery) => Promise<readonly AuditEntry[]>;
  /** Writes all records anew: somebody has deleted a page of them. */
  readonly rescue: () => void;
  /** Resolves when nothing is under way beside commits. */
  readonly idle: () => Promise<void>;
  readonly content: () => Content;
}

export function ledgerObjects(opened: OpenedLedger, deps: LedgerObjectsDeps): LedgerObjects {
  const { head, pages, keepAudit, machine, onCommitted, onTrouble } = deps;
  const { records } = opened;
  let auditPages = opened.auditPages;
  let tidying: Promise<void> | undefined;
  let notBefore = 0;
  let isRescueDue = false;

  /** Everything out of the head that can be in pages. */
  const lightened = async (content: Content): Promise<{ content: Content; added: AuditPage[] }> => {
    const moved = await pages.createAll("log", content.changes);
    const audits = await makeAuditPages(content);
    const lighter = withAuditPages(withMoved(content, moved), audits.made);
    return { content: lighter, added: audits.added };
  };

  const makeAuditPages = async (content: Content): Promise<{ made: PageId[]; added: AuditPage[] }> => {
    const full = fullPages(content);
    const made = [];
    for (const lines of full) made.push(await pages.create("audit", lines));
    return { made, added: full.map(auditPageOf) };
  };

  const commit = async (batch: CommitBatch): Promise<void> => {
    await head.write(async (content) => {
      const plan = planBatch(content, records, batch);
      const isHeavy = bytesOf(plan.content.changes) + bytesOf(plan.content.audit) > HEAVY_BYTES;
      const next = isHeavy ? await lightened(plan.content) : { content: plan.content, added: [] };
      const onWritten = (): void => {
        replay(records, plan.changes);
        auditPages = [...auditPages, ...next.added];
        onCommitted(batch);
      };
      return { content: next.content, onWritten };
    });
    tidyUp();
  };

  const tidyUp = (): void => {
    if (tidying !== undefined || machine.monotonicMs() < notBefore) return;
    tidying = tidy()
      .catch((error: unknown) => {
        notBefore = machine.monotonicMs() + AFTER_TROUBLE_MS;
        if (error !== OUTPACED) onTrouble("the ledger's pages could not be put in order", error);
      })
      .finally(() => {
        tidying = undefined;
      });
  };

  const tidy = async (): Promise<void> => {
    if (head.content().audit.length >= AUDIT_PAGE_LINES) await moveAudit();
    const { log, snapshot } = head.content().head;
    if (isRescueDue || log.bytes > Math.max(SNAPSHOT_BYTES, snapshot.bytes)) await takeSnapshot();
    else if (bytesOf(head.content().changes) > MOVE_BYTES) await moveChanges();
  };

  const moveChanges = async (): Promise<void> => {
    const before = head.content();
    const moved = await pages.createAll("log", before.changes);
    await head.write((content) => {
      if (content.head.moved !== before.head.moved) throw OUTPACED;
      const rest = content.changes.slice(before.changes.length);
      const left = withMoved({ ...content, changes: before.changes }, moved);
      return { content: { ...left, changes: rest } };
    });
  };

  const takeSnapshot = async (): Promise<void> => {
    const before = head.content();
    const lines = [...snapshotLines(records)];
    const made = await pages.createAll("snapshot", lines);
    await head.write((content) => {
      if (content.head.moved !== before.head.moved) throw OUTPACED;
      const snapshot = { ranges: withPages([], made), bytes: bytesOf(lines) };
      const moved = content.head.moved + before.changes.length;
      return {
        content: {
          ...content,
          head: { ...content.head, snapshot, log: { ranges: [], bytes: 0 }, moved },
          changes: content.changes.slice(before.changes.length),
        },
      };
    });
    isRescueDue = false;
    await pages.remove(recordPages(before));
  };

  const moveAudit = async (): Promise<void> => {
    const before = head.content();
    const { made, added } = await makeAuditPages(before);
    let dropped: string[] = [];
    await head.write((content) => {
      if (firstLine(content) !== firstLine(before)) throw OUTPACED;
      const all = [...auditPages, ...added];
      const trimmed = pagesToTrim(all, keepAudit, content.head.time);
      const longer = withAuditPages(content, made);
      dropped = pagesIn(longer.head.audit.pages)
        .slice(0, trimmed)
        .map((page) => pageName("audit", page));
      const onWritten = (): void => {
        auditPages = all.slice(trimmed);
      };
      return { content: withoutAuditPages(longer, all.slice(0, trimmed)), onWritten };
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
    idle: async () => {
      while (tidying !== undefined) await tidying;
    },
    content: head.content,
  };
}

/** Pages were made of a head that has changed since: they are of no use, and the next leader removes them. */
const OUTPACED = new Error("a commit was faster");

/** The content once all of its changes are in these pages. */
function withMoved(content: Content, pages: readonly PageId[]): Content {
  const { head, changes } = content;
  const log = { ranges: withPages(head.log.ranges, pages), bytes: head.log.bytes + bytesOf(changes) };
  return { ...content, head: { ...head, log, moved: head.moved + changes.length }, changes: [] };
}

/** The number of the first audit line that is still in the head. */
function firstLine({ head, audit }: Content): number {
  return head.audit.last.sequence - audit.length;
}

/** The pages that the records are in. */
export function recordPages({ head }: Content): string[] {
  return [
    ...pagesIn(head.snapshot.ranges).map((page) => pageName("snapshot", page)),
    ...pagesIn(head.log.ranges).map((page) => pageName("log", page)),
  ];
}
