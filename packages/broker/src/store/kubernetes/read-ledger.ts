import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { refuseContradiction } from "../common/contradiction.ts";
import { checkAuditEnd } from "../common/ledger-header.ts";
import { checkSum } from "../common/seals.ts";
import { StoreFailure } from "../store.ts";
import { type AuditSegment, auditSegmentOf, linkAfter } from "./audit-segments.ts";
import { type Content, recordSegments, sumOf } from "./ledger-manifest.ts";
import { emptyRecords, type Records, replay } from "./records.ts";
import {
  LEDGER_LABEL,
  linesIn,
  parseSegmentName,
  type SegmentKind,
  type SegmentRange,
  segmentName,
  segmentsIn,
} from "./segments.ts";

const LIST_LIMIT = 50;

/** All objects of the ledger except its manifest, by name. */
export type LedgerConfigMaps = ReadonlyMap<string, ConfigMap>;

/** Lists all segments. Those that the manifest names exist, because they are created first. */
export async function listLedgerObjects(client: KubeClient, namespace: string): Promise<LedgerConfigMaps> {
  const configMaps = new Map<string, ConfigMap>();
  const labelSelector = `${LEDGER_LABEL} in (page,soft)`;
  await client.list(CONFIG_MAPS, { namespace, labelSelector, pageSize: LIST_LIMIT }, (object) => {
    configMaps.set(object.metadata.name, object);
  });
  return configMaps;
}

export interface ReadLedger {
  readonly records: Records;
  readonly auditSegments: AuditSegment[];
}

/** Rebuilds the ledger from the manifest and its segments, and checks it. */
export function readLedger(content: Content, configMaps: LedgerConfigMaps): ReadLedger {
  const { manifest, changes, audit } = content;
  const records = emptyRecords();
  for (const lines of linesOf("snapshot", manifest.snapshot.ranges, configMaps)) replay(records, lines);
  for (const lines of linesOf("log", manifest.log.ranges, configMaps)) replay(records, lines);
  replay(records, changes);
  checkSum("the set of the ledger's pages", records.sum, sumOf(content) ?? records.sum);
  refuseContradiction({
    reservations: [...records.reservations.values()],
    waiting: [...records.waiting.values()],
    members: [...records.members.values()],
    cordons: [...records.cordons],
  });
  const segments = segmentsIn(manifest.audit.pages).map((segment) =>
    configMaps.get(segmentName("audit", segment)),
  );
  const auditSegments = segments.map((segment) =>
    segment === undefined ? MISSING_SEGMENT : auditSegmentOf(linesIn(segment)),
  );
  checkAudit(manifest.audit, audit, auditSegments.at(-1)?.lastHash);
  return { records, auditSegments };
}

/** Stands for a missing segment: readers of the audit log find a gap. */
const MISSING_SEGMENT: AuditSegment = { lastHash: "", lastAt: Number.POSITIVE_INFINITY };

function* linesOf(
  kind: SegmentKind,
  ranges: readonly SegmentRange[],
  configMaps: LedgerConfigMaps,
): Generator<string[]> {
  for (const segment of segmentsIn(ranges)) {
    const name = segmentName(kind, segment);
    const found = configMaps.get(name);
    if (found === undefined)
      throw new StoreFailure(
        "corrupt",
        `ConfigMap ${name} of the ledger is missing; restore it from a backup`,
      );
    yield linesIn(found);
  }
}

/** The lines in the manifest must chain up to the link that it names. */
function checkAudit(
  { last, trimmed }: Content["manifest"]["audit"],
  lines: readonly string[],
  before: string | undefined,
): void {
  if (before === MISSING_SEGMENT.lastHash) return;
  const start = { sequence: last.sequence - lines.length, hash: before ?? trimmed.hash };
  checkAuditEnd(linkAfter(start, lines), last);
}

/** Segments of earlier epochs that the manifest does not name: their leader ended before it could add them. */
export function orphanSegments(content: Content, configMaps: LedgerConfigMaps): string[] {
  const { manifest } = content;
  const named = new Set([
    ...recordSegments(content),
    ...segmentsIn(manifest.audit.pages).map((segment) => segmentName("audit", segment)),
  ]);
  const isOlderSegment = (name: string): boolean =>
    SEGMENT_KINDS.some((kind) => (parseSegmentName(kind, name)?.epoch ?? manifest.epoch) < manifest.epoch);
  return [...configMaps.keys()].filter((name) => isOlderSegment(name) && !named.has(name));
}

const SEGMENT_KINDS: readonly SegmentKind[] = ["snapshot", "log", "audit"];
