import type { Clock } from "@resource-broker/base";
import { chainedLines } from "../common/audit.ts";
import { durableEvents, latestOf, requireNext } from "../common/changes.ts";
import type { AuditEntry, AuditQuery, CommitBatch, Keep } from "../store.ts";
import {
  AUDIT_SEGMENT_LINES,
  type AuditSegment,
  auditSegmentOf,
  auditText,
  fullSegments,
  readAudit,
  segmentsToTrim,
  withAuditSegments,
  withoutAuditSegments,
} from "./audit-segments.ts";
import {
  type Content,
  hasSamePrefix,
  recordSegments,
  withLogSegments,
  withSnapshot,
  withSum,
} from "./ledger-manifest.ts";
import type { ManifestWriter } from "./manifest-writer.ts";
import { changeLines, type Records, replay, snapshotLines, sumAfter } from "./records.ts";
import { bytesOf, type LedgerSegments, segmentName, segmentsIn } from "./segments.ts";

/** Changes beyond this size move into segments, because every commit writes the whole manifest again. */
const COMPACT_ABOVE_BYTES = 16 * 1024;
/** A batch that makes the manifest larger than this is written to segments first; an object may have a megabyte. */
const MAX_MANIFEST_BYTES = 64 * 1024;
/** A new snapshot is due when the log is larger than the last snapshot and than this. */
const SNAPSHOT_BYTES = 256 * 1024;
const RETRY_MS = 5000;

/** A commit moved the same lines first: the new segments are unused, and the next leader deletes them. */
const SUPERSEDED = new Error("a commit was faster");

export interface OpenedLedger {
  readonly records: Records;
  readonly auditSegments: readonly AuditSegment[];
}

export interface LedgerObjectsDeps {
  readonly writer: ManifestWriter;
  readonly segments: LedgerSegments;
  readonly auditRetention: Keep;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  /** Called once for every stored commit, in order. */
  readonly onCommitted: (batch: CommitBatch) => void;
  readonly onError: (doing: string, error: unknown) => void;
}

/** The objects of the ledger. Only the leader of the epoch writes them. */
export interface LedgerObjects {
  readonly commit: (batch: CommitBatch) => Promise<void>;
  readonly lastCommit: () => Promise<number>;
  readonly readAudit: (query: AuditQuery) => Promise<readonly AuditEntry[]>;
  /** Writes a new snapshot of all records, because a segment was deleted. */
  readonly rewriteRecords: () => void;
  /** Resolves when no compaction runs. The next leader continues an unfinished one. */
  readonly stop: () => Promise<void>;
  readonly content: () => Content;
}

/** Content after lines were moved to segments, and the new audit segments. */
interface CompactedContent {
  readonly content: Content;
  readonly added: readonly AuditSegment[];
}

export function ledgerObjects(opened: OpenedLedger, deps: LedgerObjectsDeps): LedgerObjects {
  const { writer, segments, auditRetention, clock, onCommitted, onError } = deps;
  const { records } = opened;
  let auditSegments = opened.auditSegments;
  let compacting: Promise<void> | undefined;
  let retryAt = 0;
  let isRewriteDue = false;
  let cancelRewrite = (): void => undefined;

  /** Creates segments from the first lines of the content. Returns a function that replaces these lines in any content that starts with them. */
  const createSegments = async (
    before: Content,
    compactsAllChanges: boolean,
  ): Promise<(content: Content) => CompactedContent> => {
    const changes = compactsAllChanges || bytesOf(before.changes) > COMPACT_ABOVE_BYTES ? before.changes : [];
    const full = fullSegments(before);
    const [log, audit] = await Promise.all([
      segments.createAll("log", changes),
      Promise.all(full.map((lines) => segments.create("audit", lines))),
    ]);
    return (content) => ({
      content: withAuditSegments(withLogSegments(content, { changes, segments: log }), audit),
      added: full.map(auditSegmentOf),
    });
  };

  const commit = async (batch: CommitBatch): Promise<void> => {
    await writer.write(async (before) => {
      const plan = planBatch(before, records, batch);
      const isTooLarge = bytesOf(plan.content.changes) + bytesOf(plan.content.audit) > MAX_MANIFEST_BYTES;
      const applySegments = isTooLarge ? await createSegments(plan.content, true) : unchanged;
      const { content: planned, added } = applySegments(plan.content);
      const content = withSum(planned, sumAfter(records, plan.changes));
      const onWritten = (): void => {
        replay(records, plan.changes);
        auditSegments = [...auditSegments, ...added];
        onCommitted(batch);
      };
      return { content, onWritten };
    });
    startCompaction();
  };

  const startCompaction = (): void => {
    if (compacting !== undefined || clock.monotonicMs() < retryAt) return;
    let isSuperseded = false;
    compacting = compact()
      .catch((error: unknown) => {
        isSuperseded = error === SUPERSEDED;
        if (isSuperseded) return;
        retryAt = clock.monotonicMs() + RETRY_MS;
        onError("compaction of the ledger failed", error);
        // A failed compaction is retried with the next commit; a missing segment is replaced without one.
        if (isRewriteDue) cancelRewrite = clock.after(RETRY_MS, retryNow);
      })
      .finally(() => {
        compacting = undefined;
        if (isSuperseded && isRewriteDue) startCompaction();
      });
  };

  /** The timer may fire slightly before `retryAt`, and there is no second timer. */
  const retryNow = (): void => {
    retryAt = 0;
    startCompaction();
  };

  const compact = async (): Promise<void> => {
    const { audit, changes } = writer.content();
    if (audit.length >= AUDIT_SEGMENT_LINES || bytesOf(changes) > COMPACT_ABOVE_BYTES) await moveToSegments();
    const { log, snapshot } = writer.content().manifest;
    if (isRewriteDue || log.bytes > Math.max(SNAPSHOT_BYTES, snapshot.bytes)) await takeSnapshot();
    if (segmentsToTrim(auditSegments, auditRetention, writer.content().manifest.time) > 0) await trimAudit();
  };

  const moveToSegments = async (): Promise<void> => {
    const before = writer.content();
    const applySegments = await createSegments(before, false);
    await writer.write((now) => {
      if (!hasSamePrefix(before, now)) throw SUPERSEDED;
      const { content, added } = applySegments(now);
      const onWritten = (): void => {
        auditSegments = [...auditSegments, ...added];
      };
      return { content, onWritten };
    });
  };

  const takeSnapshot = async (): Promise<void> => {
    const before = writer.content();
    const lines = [...snapshotLines(records)];
    const created = await segments.createAll("snapshot", lines);
    await writer.write((now) => {
      if (!hasSamePrefix(before, now)) throw SUPERSEDED;
      const snapshot = { changes: before.changes, segments: created, bytes: bytesOf(lines) };
      return { content: withSnapshot(now, snapshot) };
    });
    isRewriteDue = false;
    await segments.remove(recordSegments(before));
  };

  const trimAudit = async (): Promise<void> => {
    let dropped: string[] = [];
    await writer.write((content) => {
      const count = segmentsToTrim(auditSegments, auditRetention, content.manifest.time);
      const oldest = segmentsIn(content.manifest.audit.pages).slice(0, count);
      dropped = oldest.map((segment) => segmentName("audit", segment));
      const onWritten = (): void => {
        auditSegments = auditSegments.slice(count);
      };
      return { content: withoutAuditSegments(content, auditSegments.slice(0, count)), onWritten };
    });
    await segments.remove(dropped);
  };

  return {
    commit,
    lastCommit: writer.lastCommit,
    readAudit: (query) => readAudit(writer.content(), query, segments),
    rewriteRecords: () => {
      isRewriteDue = true;
      startCompaction();
    },
    stop: async () => {
      cancelRewrite();
      while (compacting !== undefined) await compacting;
      cancelRewrite();
    },
    content: writer.content,
  };
}

function unchanged(content: Content): CompactedContent {
  return { content, added: [] };
}

/** The manifest after the batch, and the lines that the batch adds to the records. */
interface PlannedBatch {
  readonly content: Content;
  readonly changes: readonly string[];
}

/** Throws when the batch is not the next one, or contradicts the records. */
function planBatch(content: Content, records: Records, batch: CommitBatch): PlannedBatch {
  const { manifest } = content;
  requireNext(batch, manifest.commitNumber);
  const changes = changeLines(batch, records);
  const lines = chainedLines(batch, manifest.audit.last);
  const last = lines.at(-1)?.link ?? manifest.audit.last;
  return {
    changes,
    content: {
      manifest: {
        ...manifest,
        commitNumber: batch.number,
        time: Math.max(manifest.time, latestOf(durableEvents(batch))),
        audit: { ...manifest.audit, last },
      },
      changes: [...content.changes, ...changes],
      audit: [...content.audit, ...lines.map(({ link, text }) => auditText(link.hash, text))],
    },
  };
}
