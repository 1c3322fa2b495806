import type {
  AdoptionWindow,
  ClosedKey,
  LedgerEvent,
  ReceivedAdvertisement,
  Reservation,
} from "@resource-broker/domain";
import { auditLines, type ChainLink, canonical, nextLink } from "../common/audit.ts";
import { changedReservations, decisionOf, durableEvents, latestOf } from "../common/changes.ts";
import type { LedgerHeader } from "../common/ledger-header.ts";
import {
  ADOPTION,
  ADVERTISEMENT,
  CLOSED_KEY,
  CORDON,
  type ColumnType,
  type CordonedCluster,
  closedKeyName,
  DECISION,
  RESERVATION,
  type RecordTable,
} from "../common/record-tables.ts";
import { type CommitBatch, StoreFailure } from "../store.ts";
import type { Statement } from "./session.ts";
import { arrayValue, remove, upsert } from "./tables.ts";

/** A batch as the database will have it. */
export interface PlannedBatch {
  readonly events: readonly LedgerEvent[];
  readonly advertisements: readonly ReceivedAdvertisement[];
  /** The header afterwards. */
  readonly next: LedgerHeader;
  readonly audit: readonly { readonly link: ChainLink; readonly at: number; readonly text: string }[];
}

export function planBatch(header: LedgerHeader, batch: CommitBatch): PlannedBatch {
  const events = durableEvents(batch);
  let link = header.audit;
  const audit = auditLines(batch).map((line) => {
    const text = canonical(line);
    link = nextLink(link, text);
    return { link, at: line.at, text };
  });
  const time = Math.max(header.time, latestOf(events));
  const { advertisements = [] } = batch;
  return {
    events,
    advertisements,
    audit,
    next: { ...header, commitNumber: batch.number, time, audit: link },
  };
}

/**
 * The statements that bring the tables to where the batch leads: a handful, however large it is. Throws when its events
 * contradict what is stored.
 */
export function writesOf(
  schema: string,
  { events, advertisements, audit }: PlannedBatch,
  stored: ReadonlyMap<string, Reservation>,
): Statement[] {
  const changes = changesOf(events, stored);
  return [
    ...changeStatements(schema, RESERVATION, changes.reservations),
    ...changeStatements(schema, CLOSED_KEY, changes.closedKeys),
    ...changeStatements(schema, CORDON, changes.cordons),
    ...putStatements(schema, ADOPTION, events.flatMap(adoptionIn).slice(-1)),
    ...replaceAdvertisements(schema, advertisements),
    ...putStatements(schema, DECISION, decisionsIn(events)),
    ...appendAudit(schema, audit),
  ];
}

interface Changes {
  readonly reservations: ReadonlyMap<string, Reservation | undefined>;
  readonly closedKeys: ReadonlyMap<string, ClosedKey | undefined>;
  readonly cordons: ReadonlyMap<string, CordonedCluster | undefined>;
}

/** Of each thing only its last state: one statement must not touch a row twice. */
function changesOf(events: readonly LedgerEvent[], stored: ReadonlyMap<string, Reservation>): Changes {
  const closedKeys = new Map<string, ClosedKey | undefined>();
  const cordons = new Map<string, CordonedCluster | undefined>();
  for (const event of events) {
    if (event.kind === "key-closed") closedKeys.set(closedKeyName(event.closedKey), event.closedKey);
    if (event.kind === "key-reopened") closedKeys.set(closedKeyName(event), undefined);
    if (event.kind === "cordoned") cordons.set(event.clusterId, event);
    if (event.kind === "uncordoned") cordons.set(event.clusterId, undefined);
  }
  try {
    return { reservations: changedReservations(events, (id) => stored.get(id)), closedKeys, cordons };
  } catch (cause) {
    throw new StoreFailure("corrupt", "the batch contradicts what is stored", { cause });
  }
}

function adoptionIn(event: LedgerEvent): AdoptionWindow[] {
  return event.kind === "adoption-window-set" ? [event.window] : [];
}

function decisionsIn(events: readonly LedgerEvent[]) {
  const decisions = events.map(decisionOf).filter((decision) => decision !== undefined);
  return [...new Map(decisions.map((decision) => [decision.id, decision])).values()];
}

function changeStatements<T>(
  schema: string,
  mapping: RecordTable<T>,
  changes: ReadonlyMap<string, T | undefined>,
): Statement[] {
  const gone = [...changes].filter(([, value]) => value === undefined).map(([name]) => name);
  return [
    ...putStatements(
      schema,
      mapping,
      [...changes.values()].filter((value) => value !== undefined),
    ),
    ...(gone.length === 0 ? [] : [remove(schema, mapping, gone)]),
  ];
}

function putStatements<T>(schema: string, mapping: RecordTable<T>, values: readonly T[]): Statement[] {
  return values.length === 0 ? [] : [upsert(schema, mapping, values)];
}

/** Whatever is there: `newestBy` is for what is written behind, and may be late. */
function replaceAdvertisements(
  schema: string,
  advertisements: readonly ReceivedAdvertisement[],
): Statement[] {
  if (advertisements.length === 0) return [];
  const names = advertisements.map(({ advertisement }) => advertisement.clusterId);
  return [remove(schema, ADVERTISEMENT, names), upsert(schema, ADVERTISEMENT, advertisements)];
}

function appendAudit(schema: string, lines: PlannedBatch["audit"]): Statement[] {
  if (lines.length === 0) return [];
  const column = (type: ColumnType, cell: (line: (typeof lines)[number]) => string | number): Buffer =>
    arrayValue(type, lines.map(cell));
  const values = [
    column("bigint", ({ link }) => link.sequence),
    column("bigint", ({ at }) => at),
    column("text", ({ text }) => text),
    column("text", ({ link }) => link.hash),
  ];
  return [
    {
      name: "append_audit",
      text: `INSERT INTO ${schema}.audit (sequence, at, line, hash)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])`,
      values,
    },
  ];
}
