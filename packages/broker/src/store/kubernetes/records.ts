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
import { parseStored, type TableSum, withoutRow, withRow } from "../common/seals.ts";
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
  return { reservations: new Map(), closedKeys: new Map(), cordons: new Map(), advertisements: new Map() };
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

export function replay(records: Records, lines: Iterable<string>): void {
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

/**
 * Computes the sum that the records of all segments must have. A missing segment is found by its name; only the sum
 * detects a segment that was replaced by one with other lines or by an older one.
 */
export interface RecordSums {
  /** The sum once these lines were read after all that came before. */
  readonly after: (lines: readonly string[]) => TableSum;
  readonly read: (lines: readonly string[]) => void;
  readonly sum: () => TableSum;
}

interface Counted {
  readonly name: string;
  /** Undefined: the record was removed. */
  readonly seal: number | undefined;
}

export function recordSums(): RecordSums {
  const seals = new Map<string, number>();
  let sum: TableSum = [0, 0];

  /** Goes through the lines; `found` has what the earlier ones of them have changed. */
  const go = (lines: readonly string[], found: Map<string, number | undefined>): TableSum => {
    let next = sum;
    for (const { name, seal } of lines.flatMap(counted)) {
      const before = found.has(name) ? found.get(name) : seals.get(name);
      if (before !== undefined) next = withoutRow(next, before);
      if (seal !== undefined) next = withRow(next, seal);
      found.set(name, seal);
    }
    return next;
  };

  return {
    after: (lines) => go(lines, new Map()),
    read: (lines) => {
      const found = new Map<string, number | undefined>();
      sum = go(lines, found);
      for (const [name, seal] of found) {
        if (seal === undefined) seals.delete(name);
        else seals.set(name, seal);
      }
    },
    sum: () => sum,
  };
}

/** What a line says of which record. Other lines are of soft state, and are not counted. */
function counted(line: string): Counted[] {
  const change = parseStored<Change>(line);
  const seal = crc32(line);
  switch (change[0]) {
    case "reservation":
      return [{ name: `reservation ${change[1].id}`, seal }];
    case "forgotten":
      return [{ name: `reservation ${change[1]}`, seal: undefined }];
    case "closed-key":
      return [{ name: `key ${keyName(change[1].requester, change[1].key)}`, seal }];
    case "reopened-key":
      return [{ name: `key ${keyName(change[1], change[2])}`, seal: undefined }];
    case "cordon":
      return [{ name: `cordon ${change[1]}`, seal }];
    case "uncordon":
      return [{ name: `cordon ${change[1]}`, seal: undefined }];
    case "adoption":
      return [{ name: "adoption", seal }];
    default:
      return [];
  }
}
