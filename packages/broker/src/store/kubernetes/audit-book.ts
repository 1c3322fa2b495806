import { fromCanonical } from "../audit.ts";
import type { Keep } from "../sqlite/retention.ts";
import type { AuditEntry, AuditQuery } from "../store.ts";
import { entryFrom, hashIn, textIn } from "./audit-text.ts";
import type { Content } from "./head.ts";
import type { PageId } from "./page.ts";
import { pageCount, pagesIn, withoutFirst, withPages } from "./page-ranges.ts";
import type { LedgerPages } from "./pages.ts";

/** Lines per audit segment. It is fixed, so a line's number gives its segment. */
export const AUDIT_PAGE_LINES = 100;

/** What has to be known of a page when it is trimmed away. */
export interface AuditPage {
  readonly lastHash: string;
  readonly lastAt: number;
}

export function auditPageOf(lines: readonly string[]): AuditPage {
  const last = lines.at(-1) ?? "";
  return { lastHash: hashIn(last), lastAt: fromCanonical(textIn(last)).at };
}

/** The lines of the head that fill whole pages. */
export function fullPages({ audit }: Content): string[][] {
  const count = Math.floor(audit.length / AUDIT_PAGE_LINES);
  return Array.from({ length: count }, (_, index) =>
    audit.slice(index * AUDIT_PAGE_LINES, (index + 1) * AUDIT_PAGE_LINES),
  );
}

/** The content once the first lines of its audit log are in these pages. */
export function withAuditPages(content: Content, pages: readonly PageId[]): Content {
  const { head, audit } = content;
  return {
    ...content,
    head: { ...head, audit: { ...head.audit, pages: withPages(head.audit.pages, pages) } },
    audit: audit.slice(pages.length * AUDIT_PAGE_LINES),
  };
}

/** How many of the oldest pages need not be kept. */
export function pagesToTrim(pages: readonly AuditPage[], keep: Keep, now: number): number {
  let count = Math.max(0, pages.length - Math.ceil(keep.atMost / AUDIT_PAGE_LINES));
  while (count < pages.length && (pages[count]?.lastAt ?? now) < now - keep.forMs) count++;
  return count;
}

export function withoutAuditPages(content: Content, dropped: readonly AuditPage[]): Content {
  const last = dropped.at(-1);
  if (last === undefined) return content;
  const { audit } = content.head;
  const trimmed = {
    sequence: audit.trimmed.sequence + dropped.length * AUDIT_PAGE_LINES,
    hash: last.lastHash,
  };
  const pages = withoutFirst(audit.pages, dropped.length);
  return { ...content, head: { ...content.head, audit: { ...audit, trimmed, pages } } };
}

/** Lines in order; lines of deleted segments are missing. */
export async function readAudit(
  content: Content,
  { after, limit }: AuditQuery,
  pages: Pick<LedgerPages, "read">,
): Promise<AuditEntry[]> {
  const { trimmed, pages: ranges } = content.head.audit;
  const from = Math.max(after, trimmed.sequence) - trimmed.sequence;
  const found: AuditEntry[] = [];
  const take = (lines: readonly string[], before: number): void => {
    for (const [index, line] of lines.entries()) {
      if (before + index >= from && found.length < limit)
        found.push(entryFrom(line, trimmed.sequence + before + index + 1));
    }
  };
  const all = pagesIn(ranges);
  for (let index = Math.floor(from / AUDIT_PAGE_LINES); index < all.length && found.length < limit; index++) {
    const page = all[index];
    const lines = page && (await pages.read("audit", page));
    take(lines ?? [], index * AUDIT_PAGE_LINES);
  }
  take(content.audit, pageCount(ranges) * AUDIT_PAGE_LINES);
  return found;
}
