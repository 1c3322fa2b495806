import type { Content } from "./head.ts";
import { bytesOf, type SegmentId, segmentName } from "./page.ts";
import { addSegments, segmentsIn } from "./page-ranges.ts";

/** Changes that have left the head. */
export interface CompactedChanges {
  /** The first ones of the head. */
  readonly changes: readonly string[];
  readonly segments: readonly SegmentId[];
}

/** The content once these changes are in pages of the log. */
export function withLogSegments(content: Content, { changes, segments }: CompactedChanges): Content {
  const { head } = content;
  const log = { ranges: addSegments(head.log.ranges, segments), bytes: head.log.bytes + bytesOf(changes) };
  return {
    ...content,
    head: { ...head, log, moved: head.moved + changes.length },
    changes: content.changes.slice(changes.length),
  };
}

/** All records, as they were when the head had these changes. */
export interface Snapshot extends CompactedChanges {
  readonly bytes: number;
}

/** The content once a snapshot stands for the log and for the first changes of the head. */
export function withSnapshot(content: Content, { changes, segments, bytes }: Snapshot): Content {
  const { head } = content;
  const snapshot = { ranges: addSegments([], segments), bytes };
  return {
    ...content,
    head: { ...head, snapshot, log: { ranges: [], bytes: 0 }, moved: head.moved + changes.length },
    changes: content.changes.slice(changes.length),
  };
}

/** True if no lines were removed from the manifest, so that its first lines are unchanged. */
export function hasSamePrefix(before: Content, { head, audit }: Content): boolean {
  const firstLine = head.audit.last.sequence - audit.length;
  const firstBefore = before.head.audit.last.sequence - before.audit.length;
  return head.moved === before.head.moved && firstLine === firstBefore;
}

/** The pages that the records are in. */
export function recordSegments({ head }: Content): string[] {
  return [
    ...segmentsIn(head.snapshot.ranges).map((page) => segmentName("snapshot", page)),
    ...segmentsIn(head.log.ranges).map((page) => segmentName("log", page)),
  ];
}
