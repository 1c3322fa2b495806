import { auditLines, type ChainLink, canonical, nextLink } from "../common/audit.ts";
import { durableEvents, latestOf } from "../common/changes.ts";
import { type CommitBatch, StoreFailure } from "../store.ts";
import { auditText } from "./audit-segments.ts";
import type { Content } from "./ledger-manifest.ts";
import { changeLines, type Records } from "./records.ts";
import { addSegments, bytesOf, type SegmentId, segmentName, segmentsIn } from "./segment.ts";

/** Changes that were moved from the manifest to segments. */
export interface CompactedChanges {
  /** The first changes of the manifest. */
  readonly changes: readonly string[];
  readonly segments: readonly SegmentId[];
}

/** The content after these changes were moved to segments of the log. */
export function withLogSegments(content: Content, { changes, segments }: CompactedChanges): Content {
  const { manifest } = content;
  const log = {
    ranges: addSegments(manifest.log.ranges, segments),
    bytes: manifest.log.bytes + bytesOf(changes),
  };
  return {
    ...content,
    manifest: { ...manifest, log, moved: manifest.moved + changes.length },
    changes: content.changes.slice(changes.length),
  };
}

/** All records as of these changes of the manifest. */
export interface Snapshot extends CompactedChanges {
  readonly bytes: number;
}

/** The content after a snapshot has replaced the log and the first changes of the manifest. */
export function withSnapshot(content: Content, { changes, segments, bytes }: Snapshot): Content {
  const { manifest } = content;
  const snapshot = { ranges: addSegments([], segments), bytes };
  return {
    ...content,
    manifest: {
      ...manifest,
      snapshot,
      log: { ranges: [], bytes: 0 },
      moved: manifest.moved + changes.length,
    },
    changes: content.changes.slice(changes.length),
  };
}

/** True if no lines were removed from the manifest, so that its first lines are unchanged. */
export function hasSamePrefix(before: Content, { manifest, audit }: Content): boolean {
  const firstLine = manifest.audit.last.sequence - audit.length;
  const firstBefore = before.manifest.audit.last.sequence - before.audit.length;
  return manifest.moved === before.manifest.moved && firstLine === firstBefore;
}

/** The segments that contain the records. */
export function recordSegments({ manifest }: Content): string[] {
  return [
    ...segmentsIn(manifest.snapshot.ranges).map((segment) => segmentName("snapshot", segment)),
    ...segmentsIn(manifest.log.ranges).map((segment) => segmentName("log", segment)),
  ];
}

/** The manifest after the batch, and the lines that the batch adds to the records. */
interface PlannedBatch {
  readonly content: Content;
  readonly changes: readonly string[];
}

/** Throws when the batch is not the next one, or contradicts the records. */
export function planBatch(content: Content, records: Records, batch: CommitBatch): PlannedBatch {
  const { manifest } = content;
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
      manifest: {
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
