import { crc32 } from "node:zlib";
import type {
  AdoptionWindow,
  ClosedKey,
  ClusterId,
  LedgerEvent,
  LedgerRecords,
  ReceivedAdvertisement,
  Reservation,
  ReservationId,
} from "@resource-broker/domain";
import { durableEvents, reservationsAfter } from "../common/changes.ts";
import { NO_ROWS, parseStored, type TableSum, withoutRow, withRow } from "../common/seals.ts";
import type { CommitBatch } from "../store.ts";

type Cordon = LedgerRecords["cordons"][number][1];

/** An advertisement with the last commit number when it was received, or the commit that contains it. */
export interface StoredAdvertisement extends ReceivedAdvertisement {
  readonly commit: number;
}

/** The records from all segments. */
export interface Records {
  readonly reservations: Map<ReservationId, Reservation>;
  readonly closedKeys: Map<string, ClosedKey>;
  readonly cordons: Map<ClusterId, Cordon>;
  adoption?: AdoptionWindow;
  /** Those that were committed and may not be where advertisements are written behind. */
  readonly advertisements: Map<ClusterId, StoredAdvertisement>;
  /** The seal of each record but the advertisements. */
  readonly seals: Map<string, number>;
  /**
   * What the records of all segments add up to. A missing segment is found by its name; only the sum detects a segment that
   * was replaced by one with other lines or by an older one.
   */
  sum: TableSum;
}

/**
 * One change of the records, as a line. A line holds the new state and not the event: replaying a line twice is harmless,
 * and later versions need not know how old events were applied.
 */
type Change =
  | readonly ["reservation", Reservation]
  | readonly ["forgotten", ReservationId]
  | readonly ["closed-key", ClosedKey]
  | readonly ["reopened-key", ClusterId, string]
  | readonly ["cordon", ClusterId, Cordon]
  | readonly ["uncordon", ClusterId]
  | readonly ["adoption", AdoptionWindow]
  | readonly ["advertisement", StoredAdvertisement];

export function emptyRecords(): Records {
  return {
    reservations: new Map(),
    closedKeys: new Map(),
    cordons: new Map(),
    advertisements: new Map(),
    seals: new Map(),
    sum: NO_ROWS,
  };
}

/** What a batch changes, as lines. Throws when its events contradict the records. */
export function changeLines(batch: CommitBatch, { reservations }: Records): string[] {
  const events = durableEvents(batch);
  const changed = reservationsAfter(events, (id) => reservations.get(id));
  const changes = [
    ...[...changed].map(
      ([id, reservation]): Change =>
        reservation === undefined ? ["forgotten", id] : ["reservation", reservation],
    ),
    ...events.flatMap(otherChange),
    ...storedAdvertisements(batch).map((stored): Change => ["advertisement", stored]),
  ];
  return changes.map((change) => JSON.stringify(change));
}

/** The advertisements that are part of a batch. */
export function storedAdvertisements({ number, advertisements = [] }: CommitBatch): StoredAdvertisement[] {
  return advertisements.map((received) => ({ ...received, commit: number }));
}

function otherChange(event: LedgerEvent): Change[] {
  switch (event.kind) {
    case "key-closed":
      return [["closed-key", event.closedKey]];
    case "key-reopened":
      return [["reopened-key", event.requester, event.key]];
    case "cordoned":
      return [["cordon", event.clusterId, event.cordon]];
    case "uncordoned":
      return [["uncordon", event.clusterId]];
    case "adoption-window-set":
      return [["adoption", event.window]];
    default:
      return [];
  }
}

/** All records as lines, from which they can be restored. */
export function* snapshotLines(records: Records): Generator<string> {
  const { reservations, closedKeys, cordons, adoption, advertisements } = records;
  const line = (change: Change): string => JSON.stringify(change);
  for (const reservation of reservations.values()) yield line(["reservation", reservation]);
  for (const closedKey of closedKeys.values()) yield line(["closed-key", closedKey]);
  for (const [clusterId, cordon] of cordons) yield line(["cordon", clusterId, cordon]);
  if (adoption !== undefined) yield line(["adoption", adoption]);
  for (const stored of advertisements.values()) yield line(["advertisement", stored]);
}

export function replay(records: Records, lines: readonly string[]): void {
  const changed = sealsIn(lines);
  records.sum = sumWith(records, changed);
  for (const [name, seal] of changed) {
    if (seal === undefined) records.seals.delete(name);
    else records.seals.set(name, seal);
  }
  for (const line of lines) applyChange(records, parseStored<Change>(line));
}

function applyChange(records: Records, change: Change): void {
  const { reservations, closedKeys, cordons, advertisements } = records;
  switch (change[0]) {
    case "reservation":
      return void reservations.set(change[1].id, change[1]);
    case "forgotten":
      return void reservations.delete(change[1]);
    case "closed-key":
      return void closedKeys.set(keyName(change[1].requester, change[1].key), change[1]);
    case "reopened-key":
      return void closedKeys.delete(keyName(change[1], change[2]));
    case "cordon":
      return void cordons.set(change[1], change[2]);
    case "uncordon":
      return void cordons.delete(change[1]);
    case "advertisement":
      return void advertisements.set(change[1].advertisement.clusterId, change[1]);
    case "adoption":
      records.adoption = change[1];
  }
}

function keyName(requester: ClusterId, key: string): string {
  return `${requester}\n${key}`;
}

/** The sum of the records once these lines were replayed, too. */
export function sumAfter(records: Records, lines: readonly string[]): TableSum {
  return sumWith(records, sealsIn(lines));
}

function sumWith({ sum, seals }: Records, changed: ChangedSeals): TableSum {
  let after = sum;
  for (const [name, seal] of changed) {
    const before = seals.get(name);
    if (before !== undefined) after = withoutRow(after, before);
    if (seal !== undefined) after = withRow(after, seal);
  }
  return after;
}

/** The seals of records as some lines leave them; undefined: the record was removed. */
type ChangedSeals = ReadonlyMap<string, number | undefined>;

function sealsIn(lines: readonly string[]): ChangedSeals {
  const seals = new Map<string, number | undefined>();
  for (const line of lines) {
    const change = parseStored<Change>(line);
    const name = countedName(change);
    if (name !== undefined) seals.set(name, REMOVALS.has(change[0]) ? undefined : crc32(line));
  }
  return seals;
}

const REMOVALS: ReadonlySet<Change[0]> = new Set(["forgotten", "reopened-key", "uncordon"]);

/** The record that a line is about; undefined: it is soft state, which is not counted. */
function countedName(change: Change): string | undefined {
  switch (change[0]) {
    case "reservation":
      return `reservation ${change[1].id}`;
    case "forgotten":
      return `reservation ${change[1]}`;
    case "closed-key":
      return `key ${keyName(change[1].requester, change[1].key)}`;
    case "reopened-key":
      return `key ${keyName(change[1], change[2])}`;
    case "cordon":
    case "uncordon":
      return `cordon ${change[1]}`;
    case "adoption":
      return "adoption";
    case "advertisement":
      return undefined;
  }
}
