import { crc32 } from "node:zlib";
import type { ConfigMap } from "@resource-broker/kube";
import { CHAIN_START, type ChainLink } from "../common/audit.ts";
import type { Candidate } from "../common/leader-elector.ts";
import { parseStored } from "../common/stored-json.ts";
import type { TableSum } from "../common/table-sums.ts";
import { StoreFailure } from "../store.ts";
import { LEDGER, LEDGER_LABEL, type SegmentRange } from "./segment.ts";

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

const FORMAT = 1;
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
