import { type ChainLink, fromCanonical, nextLink } from "../common/audit.ts";
import type { AuditEntry, AuditQuery, Keep } from "../store.ts";
import type { Content } from "./ledger-manifest.ts";
import {
  addSegments,
  dropFirst,
  type LedgerSegments,
  segmentCount,
  type SegmentId,
  segmentsIn,
} from "./segments.ts";

const HASH_LENGTH = 64;

/** A line of the audit log as it is stored: its hash, and the text that was hashed. */
export function auditText(hash: string, canonicalText: string): string {
  return `${hash} ${canonicalText}`;
}

function hashIn(text: string): string {
  return text.slice(0, HASH_LENGTH);
}

/** What was hashed. */
function textIn(text: string): string {
  return text.slice(HASH_LENGTH + 1);
}

function entryFrom(text: string, sequence: number): AuditEntry {
  return { ...fromCanonical(textIn(text)), sequence, hash: hashIn(text) };
}

/** The last link after these lines; undefined: a line does not fit the one before it. */
export function linkAfter(start: ChainLink, lines: readonly string[]): ChainLink | undefined {
  let link = start;
  for (const line of lines) {
    link = nextLink(link, textIn(line));
    if (link.hash !== hashIn(line)) return undefined;
  }
  return link;
}

/** Lines per audit segment. It is fixed, so a line's number gives its segment. */
export const AUDIT_SEGMENT_LINES = 100;

/** What trimming needs to know of a segment. */
export interface AuditSegment {
  readonly lastHash: string;
  readonly lastAt: number;
}

export function auditSegmentOf(lines: readonly string[]): AuditSegment {
  const last = lines.at(-1) ?? "";
  return { lastHash: hashIn(last), lastAt: fromCanonical(textIn(last)).at };
}

/** The lines of the manifest that fill whole segments. */
export function fullSegments({ audit }: Content): string[][] {
  const count = Math.floor(audit.length / AUDIT_SEGMENT_LINES);
  return Array.from({ length: count }, (_, index) =>
    audit.slice(index * AUDIT_SEGMENT_LINES, (index + 1) * AUDIT_SEGMENT_LINES),
  );
}

/** The content after the first lines of its audit log were moved to these segments. */
export function withAuditSegments(content: Content, segments: readonly SegmentId[]): Content {
  const { manifest, audit } = content;
  return {
    ...content,
    manifest: {
      ...manifest,
      audit: { ...manifest.audit, pages: addSegments(manifest.audit.pages, segments) },
    },
    audit: audit.slice(segments.length * AUDIT_SEGMENT_LINES),
  };
}

/** How many of the oldest segments can be removed. */
export function segmentsToTrim(segments: readonly AuditSegment[], keep: Keep, now: number): number {
  let count = Math.max(0, segments.length - Math.ceil(keep.atMost / AUDIT_SEGMENT_LINES));
  while (count < segments.length && (segments[count]?.lastAt ?? now) < now - keep.forMs) count++;
  return count;
}

export function withoutAuditSegments(content: Content, dropped: readonly AuditSegment[]): Content {
  const last = dropped.at(-1);
  if (last === undefined) return content;
  const { audit } = content.manifest;
  const trimmed = {
    sequence: audit.trimmed.sequence + dropped.length * AUDIT_SEGMENT_LINES,
    hash: last.lastHash,
  };
  const pages = dropFirst(audit.pages, dropped.length);
  return { ...content, manifest: { ...content.manifest, audit: { ...audit, trimmed, pages } } };
}

/** Lines in order; lines of deleted segments are missing. */
export async function readAudit(
  content: Content,
  { after, limit }: AuditQuery,
  segments: Pick<LedgerSegments, "read">,
): Promise<AuditEntry[]> {
  const { trimmed, pages: ranges } = content.manifest.audit;
  const from = Math.max(after, trimmed.sequence) - trimmed.sequence;
  const found: AuditEntry[] = [];
  const take = (lines: readonly string[], before: number): void => {
    for (const [index, line] of lines.entries()) {
      if (before + index >= from && found.length < limit)
        found.push(entryFrom(line, trimmed.sequence + before + index + 1));
    }
  };
  const all = segmentsIn(ranges);
  for (
    let index = Math.floor(from / AUDIT_SEGMENT_LINES);
    index < all.length && found.length < limit;
    index++
  ) {
    const segment = all[index];
    const lines = segment && (await segments.read("audit", segment));
    take(lines ?? [], index * AUDIT_SEGMENT_LINES);
  }
  take(content.audit, segmentCount(ranges) * AUDIT_SEGMENT_LINES);
  return found;
}
