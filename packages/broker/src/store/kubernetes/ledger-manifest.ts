import { crc32 } from "node:zlib";
import type { ConfigMap } from "@resource-broker/kube";
import { CHAIN_START, type ChainLink } from "../common/audit.ts";
import type { Candidate } from "../common/leader-elector.ts";
import { parseStored, type TableSum } from "../common/seals.ts";
import { StoreFailure } from "../store.ts";
import {
  addSegments,
  bytesOf,
  LEDGER,
  LEDGER_LABEL,
  type SegmentId,
  type SegmentRange,
  segmentName,
  segmentsIn,
} from "./segments.ts";

/** A term of a leader and the commit it started after. */
export interface Term {
  readonly epoch: number;
  readonly leader: string;
  /** The last commit of the terms before. */
  readonly since: number;
}

/** The current position of the ledger, and the segments it consists of. */
export interface LedgerManifest {
  readonly ledgerId: string;
  readonly epoch: number;
  /** Stored as it is: a change of its fields is a change of the format. */
  readonly leader: Candidate;
  /** The newest terms, oldest first. A deposed leader reads here whether its last commit was stored. */
  readonly terms: readonly Term[];
  /** Incremented with every write, so that a writer recognizes its own writes. */
  readonly turn: number;
  readonly commitNumber: number;
  readonly time: number;
  /** A snapshot of all records, and the changes since then that are in segments. */
  readonly snapshot: SegmentSet;
  readonly log: SegmentSet;
  /** How many changes have ever been moved to segments. */
  readonly moved: number;
  /** How many records there are, and the sum of their seals, as of a commit. Older brokers keep it and do not count. */
  readonly sum?: { readonly commit: number; readonly records: TableSum };
  readonly audit: {
    /** The last line of the audit log. */
    readonly last: ChainLink;
    /** The last line that was trimmed away: the chain of those that are left begins after it. */
    readonly trimmed: ChainLink;
    readonly pages: readonly SegmentRange[];
  };
}

export interface SegmentSet {
  readonly ranges: readonly SegmentRange[];
  /** Of their lines, before they are compressed. */
  readonly bytes: number;
}

/** Content of the manifest's ConfigMap: the manifest, and lines that are not in a segment yet. One PUT writes it. */
export interface Content {
  readonly manifest: LedgerManifest;
  readonly changes: readonly string[];
  readonly audit: readonly string[];
}

const FORMAT = 4;
const NO_SEGMENTS: SegmentSet = { ranges: [], bytes: 0 };
const MAX_TERMS = 20;

export function newManifest(ledgerId: string): LedgerManifest {
  return {
    ledgerId,
    epoch: 0,
    leader: { instance: "", name: "" },
    terms: [],
    turn: 0,
    commitNumber: 0,
    time: 0,
    snapshot: NO_SEGMENTS,
    log: NO_SEGMENTS,
    moved: 0,
    audit: { last: CHAIN_START, trimmed: CHAIN_START, pages: [] },
  };
}

/** The same ledger under a new leader. */
export function withLeader(content: Content, leader: Candidate): Content {
  const { manifest } = content;
  const epoch = manifest.epoch + 1;
  const term = { epoch, leader: leader.name, since: manifest.commitNumber };
  const terms = [...manifest.terms, term].slice(-MAX_TERMS);
  return { ...content, manifest: { ...manifest, epoch, leader, terms, turn: manifest.turn + 1 } };
}

/** The last commit of a term, from a later manifest; undefined if the term is too old. */
export function lastCommitOf(epoch: number, { terms }: LedgerManifest): number | undefined {
  return terms.find((term) => term.epoch > epoch)?.since;
}

/** The ConfigMap with this content. Labels and annotations of others are preserved. */
export function manifestConfigMap(
  known: ConfigMap | undefined,
  namespace: string,
  content: Content,
): ConfigMap {
  const metadata = known?.metadata ?? { name: LEDGER, namespace };
  return {
    ...known,
    metadata: { ...metadata, labels: { ...metadata.labels, [LEDGER_LABEL]: "head" } },
    data: dataOf(content),
  };
}

function dataOf({ manifest, changes, audit }: Content): Record<string, string> {
  const data = { head: JSON.stringify(manifest), changes: changes.join("\n"), audit: audit.join("\n") };
  return { format: String(FORMAT), ...data, seal: sealOf(data) };
}

export function contentIn({ data = {} }: ConfigMap): Content {
  const { format, head = "", changes = "", audit = "", seal } = data;
  if (Number(format) > FORMAT) {
    throw new StoreFailure(
      "not-committed",
      `ConfigMap ${LEDGER} was written by a newer broker (format ${format}, this one knows ${FORMAT}); upgrade this one`,
    );
  }
  if (seal !== sealOf({ head, changes, audit }))
    throw new StoreFailure("corrupt", `ConfigMap ${LEDGER} is damaged; restore it from a backup`);
  return { manifest: parseStored<LedgerManifest>(head), changes: linesOf(changes), audit: linesOf(audit) };
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function sealOf({ head, changes, audit }: Readonly<Record<"head" | "changes" | "audit", string>>): string {
  return String(crc32(audit, crc32(changes, crc32(head))));
}

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

/** The content with the sum of its records as of its commit. */
export function withSum(content: Content, records: TableSum): Content {
  const { manifest } = content;
  return { ...content, manifest: { ...manifest, sum: { commit: manifest.commitNumber, records } } };
}

/** Undefined: an older broker made the last commit, and counted nothing. */
export function sumOf({ manifest: { sum, commitNumber } }: Content): TableSum | undefined {
  return sum?.commit === commitNumber ? sum.records : undefined;
}
