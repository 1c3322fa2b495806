import { crc32 } from "node:zlib";
import {
  type AdoptionWindow,
  type ClosedDay,
  type ClosedKey,
  type ClusterId,
  type LedgerEvent,
  type LedgerRecords,
  type Member,
  memberIn,
  type ReceivedAdvertisement,
  type Reservation,
  type ReservationId,
  type UtcDay,
  type Waiting,
} from "@resource-broker/domain";
import { durableEvents, requestsAfter } from "../common/changes.ts";
import { NO_ROWS, parseStored, type TableSum, withoutRow, withRow } from "../common/seals.ts";
import { type CommitBatch, StoreFailure } from "../store.ts";

type Cordon = LedgerRecords["cordons"][number][1];

/** An advertisement with the last commit number when it was received, or the commit that contains it. */
export interface StoredAdvertisement extends ReceivedAdvertisement {
  readonly commit: number;
}

/** The records from all segments. */
export interface Records {
  readonly reservations: Map<ReservationId, Reservation>;
  readonly waiting: Map<ReservationId, Waiting>;
  readonly closedDays: Map<UtcDay, ClosedDay>;
  readonly closedKeys: Map<string, ClosedKey>;
  readonly cordons: Map<ClusterId, Cordon>;
  readonly members: Map<ClusterId, Member>;
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
  | readonly ["waiting", Waiting]
  | readonly ["not-waiting", ReservationId]
  | readonly ["closed-day", ClosedDay]
  | readonly ["forgotten-day", UtcDay]
  | readonly ["closed-key", ClosedKey]
  | readonly ["reopened-key", ClusterId, string]
  | readonly ["cordon", ClusterId, Cordon]
  | readonly ["uncordon", ClusterId]
  | readonly ["adoption", AdoptionWindow]
  | readonly ["member", Member]
  | readonly ["advertisement", StoredAdvertisement];

/** What lines of each kind do to the record that they are about. */
const KINDS: Readonly<Record<Change[0], "puts" | "removes">> = {
  reservation: "puts",
  forgotten: "removes",
  waiting: "puts",
  "not-waiting": "removes",
  "closed-day": "puts",
  "forgotten-day": "removes",
  "closed-key": "puts",
  "reopened-key": "removes",
  cordon: "puts",
  uncordon: "removes",
  adoption: "puts",
  member: "puts",
  advertisement: "puts",
};

export function emptyRecords(): Records {
  return {
    reservations: new Map(),
    waiting: new Map(),
    closedDays: new Map(),
    closedKeys: new Map(),
    cordons: new Map(),
    members: new Map(),
    advertisements: new Map(),
    seals: new Map(),
    sum: NO_ROWS,
  };
}

/** What a batch changes, as lines. Throws when its events contradict the records. */
export function changeLines(batch: CommitBatch, records: Records): string[] {
  const events = durableEvents(batch);
  const { reservations, waiting } = requestsAfter(events, {
    reservation: (id) => records.reservations.get(id),
    waiting: (id) => records.waiting.get(id),
  });
  const changes = [
    ...[...reservations].map(
      ([id, reservation]): Change =>
        reservation === undefined ? ["forgotten", id] : ["reservation", reservation],
    ),
    ...[...waiting].flatMap(([id, entry]): Change[] => {
      if (entry !== undefined) return [["waiting", entry]];
      return records.waiting.has(id) ? [["not-waiting", id]] : [];
    }),
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
    case "day-closed": {
      const forgotten = event.forgets.map((day): Change => ["forgotten-day", day]);
      return [...forgotten, ["closed-day", event.closedDay]];
    }
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
    default: {
      const member = memberIn(event);
      return member === undefined ? [] : [["member", member]];
    }
  }
}

/** All records as lines, from which they can be restored. */
export function* snapshotLines(records: Records): Generator<string> {
  const { reservations, waiting, closedDays, closedKeys, cordons, adoption, members, advertisements } =
    records;
  const line = (change: Change): string => JSON.stringify(change);
  for (const reservation of reservations.values()) yield line(["reservation", reservation]);
  for (const entry of waiting.values()) yield line(["waiting", entry]);
  for (const closedDay of closedDays.values()) yield line(["closed-day", closedDay]);
  for (const closedKey of closedKeys.values()) yield line(["closed-key", closedKey]);
  for (const [clusterId, cordon] of cordons) yield line(["cordon", clusterId, cordon]);
  if (adoption !== undefined) yield line(["adoption", adoption]);
  for (const member of members.values()) yield line(["member", member]);
  for (const stored of advertisements.values()) yield line(["advertisement", stored]);
}

export function replay(records: Records, lines: readonly string[]): void {
  const changed = sealsIn(lines);
  records.sum = sumWith(records, changed);
  for (const [name, seal] of changed) {
    if (seal === undefined) records.seals.delete(name);
    else records.seals.set(name, seal);
  }
  for (const line of lines) applyChange(records, changeIn(line));
}

/** A record of a kind that this version does not know must not be left out: nobody would know what the ledger lacks. */
function changeIn(line: string): Change {
  const change = parseStored<Change>(line);
  if (Object.hasOwn(KINDS, change[0])) return change;
  throw new StoreFailure(
    "corrupt",
    `the ledger has records of a kind that this version does not know (${change[0]}): ` +
      "start the version that wrote them or a newer one, or restore a backup",
  );
}

function applyChange(records: Records, change: Change): void {
  const { reservations, waiting, closedDays, closedKeys, cordons, members, advertisements } = records;
  switch (change[0]) {
    case "reservation":
      return void reservations.set(change[1].id, change[1]);
    case "forgotten":
      return void reservations.delete(change[1]);
    case "waiting":
      return void waiting.set(change[1].id, change[1]);
    case "not-waiting":
      return void waiting.delete(change[1]);
    case "closed-day":
      return void closedDays.set(change[1].day, change[1]);
    case "forgotten-day":
      return void closedDays.delete(change[1]);
    case "closed-key":
      return void closedKeys.set(keyName(change[1].requester, change[1].key), change[1]);
    case "reopened-key":
      return void closedKeys.delete(keyName(change[1], change[2]));
    case "cordon":
      return void cordons.set(change[1], change[2]);
    case "uncordon":
      return void cordons.delete(change[1]);
    case "member":
      return void members.set(change[1].clusterId, change[1]);
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
    const change = changeIn(line);
    const name = countedName(change);
    if (name !== undefined) seals.set(name, KINDS[change[0]] === "removes" ? undefined : crc32(line));
  }
  return seals;
}

/** The record that a line is about; undefined: it is soft state, which is not counted. */
function countedName(change: Change): string | undefined {
  switch (change[0]) {
    case "reservation":
      return `reservation ${change[1].id}`;
    case "forgotten":
      return `reservation ${change[1]}`;
    case "waiting":
      return `waiting ${change[1].id}`;
    case "not-waiting":
      return `waiting ${change[1]}`;
    case "closed-day":
      return `day ${change[1].day}`;
    case "forgotten-day":
      return `day ${change[1]}`;
    case "closed-key":
      return `key ${keyName(change[1].requester, change[1].key)}`;
    case "reopened-key":
      return `key ${keyName(change[1], change[2])}`;
    case "cordon":
    case "uncordon":
      return `cordon ${change[1]}`;
    case "adoption":
      return "adoption";
    case "member":
      return `member ${change[1].clusterId}`;
    case "advertisement":
      return undefined;
  }
}
