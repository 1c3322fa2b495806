import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { contradictionIn } from "../recount.ts";
import { StoreFailure } from "../store.ts";
import { checkSum } from "../table-sums.ts";
import { type AuditPage, auditPageOf } from "./audit-book.ts";
import { linkAfter } from "./audit-text.ts";
import type { Content } from "./head.ts";
import { LEDGER_LABEL, linesIn, pageIdIn, pageName, type PageSort } from "./page.ts";
import { pagesIn, type PageRange } from "./page-ranges.ts";
import { type RecordSums, recordSums, sumOf } from "./record-sums.ts";
import { emptyRecords, type Records, replay } from "./records.ts";

const LISTED_TOGETHER = 50;

/** All objects of the ledger but its head, by name. */
export type LedgerShelf = ReadonlyMap<string, ConfigMap>;

/** Lists all segments. Those that the manifest names exist, because they are created first. */
export async function readShelf(client: KubeClient, namespace: string): Promise<LedgerShelf> {
  const shelf = new Map<string, ConfigMap>();
  const labelSelector = `${LEDGER_LABEL} in (page,soft)`;
  await client.list(CONFIG_MAPS, { namespace, labelSelector, pageSize: LISTED_TOGETHER }, (object) => {
    shelf.set(object.metadata.name, object);
  });
  return shelf;
}

export interface ReadLedger {
  readonly records: Records;
  readonly sums: RecordSums;
  readonly auditPages: AuditPage[];
}

/** Rebuilds the ledger from the manifest and its segments, and checks it. */
export function readLedger(content: Content, shelf: LedgerShelf): ReadLedger {
  const { head, changes, audit } = content;
  const records = emptyRecords();
  const sums = recordSums();
  const read = (lines: readonly string[]): void => {
    replay(records, lines);
    sums.read(lines);
  };
  for (const lines of linesOf("snapshot", head.snapshot.ranges, shelf)) read(lines);
  for (const lines of linesOf("log", head.log.ranges, shelf)) read(lines);
  read(changes);
  checkSum("the set of the ledger's pages", sums.sum(), sumOf(content) ?? sums.sum());
  const contradiction = contradictionIn({
    reservations: [...records.reservations.values()],
    closedKeys: [],
    cordons: [],
    advertisements: [],
    time: head.time,
  });
  if (contradiction !== undefined)
    throw new StoreFailure("corrupt", `the ledger contradicts itself: ${contradiction}; restore a backup`);
  const pages = pagesIn(head.audit.pages).map((page) => shelf.get(pageName("audit", page)));
  const auditPages = pages.map((page) => (page === undefined ? LOST_PAGE : auditPageOf(linesIn(page))));
  checkAudit(head.audit, audit, auditPages.at(-1)?.lastHash);
  return { records, sums, auditPages };
}

/** Stands for a missing segment: readers of the audit log find a gap. */
const LOST_PAGE: AuditPage = { lastHash: "", lastAt: Number.POSITIVE_INFINITY };

function* linesOf(sort: PageSort, ranges: readonly PageRange[], shelf: LedgerShelf): Generator<string[]> {
  for (const page of pagesIn(ranges)) {
    const name = pageName(sort, page);
    const found = shelf.get(name);
    if (found === undefined)
      throw new StoreFailure(
        "corrupt",
        `ConfigMap ${name} of the ledger is missing; restore it from a backup`,
      );
    yield linesIn(found);
  }
}

/** The lines in the head must chain up to the link that it names. */
function checkAudit(
  { last, trimmed }: Content["head"]["audit"],
  lines: readonly string[],
  before: string | undefined,
): void {
  if (before === LOST_PAGE.lastHash) return;
  const start = { sequence: last.sequence - lines.length, hash: before ?? trimmed.hash };
  const end = linkAfter(start, lines);
  if (end?.hash !== last.hash)
    throw new StoreFailure("corrupt", "the end of the audit log was changed; restore a backup");
}

/** Segments of earlier epochs that the manifest does not name: their leader ended before it could add them. */
export function strayPages({ head }: Content, shelf: LedgerShelf): string[] {
  const named = new Set([
    ...pagesIn(head.snapshot.ranges).map((page) => pageName("snapshot", page)),
    ...pagesIn(head.log.ranges).map((page) => pageName("log", page)),
    ...pagesIn(head.audit.pages).map((page) => pageName("audit", page)),
  ]);
  const isPage = (name: string): boolean =>
    PAGE_SORTS.some((sort) => (pageIdIn(sort, name)?.epoch ?? head.epoch) < head.epoch);
  return [...shelf.keys()].filter((name) => isPage(name) && !named.has(name));
}

const PAGE_SORTS: readonly PageSort[] = ["snapshot", "log", "audit"];
