import type {
  AdoptionWindow,
  ClosedKey,
  ClusterId,
  LedgerEvent,
  LedgerRecords,
  Reservation,
  ReservationId,
} from "@resource-broker/domain";
import { changedReservations } from "../changes.ts";
import { parseStored } from "../sqlite/stored-json.ts";

type Cordon = LedgerRecords["cordons"][number][1];

/** What the ledger's pages say, put together. */
export interface Records {
  readonly reservations: Map<ReservationId, Reservation>;
  readonly closedKeys: Map<string, ClosedKey>;
  readonly cordons: Map<ClusterId, Cordon>;
  adoption?: AdoptionWindow;
}

/**
 * One change of the records, as a line. Each says how something is from now on, not what happened to it: to read a
 * line twice does no harm, and no later version has to know how an event was once understood.
 */
type Change =
  | readonly ["reservation", Reservation]
  | readonly ["forgotten", ReservationId]
  | readonly ["closed-key", ClosedKey]
  | readonly ["reopened-key", ClusterId, string]
  | readonly ["cordon", ClusterId, Cordon]
  | readonly ["uncordon", ClusterId]
  | readonly ["adoption", AdoptionWindow];

export function emptyRecords(): Records {
  return { reservations: new Map(), closedKeys: new Map(), cordons: new Map() };
}

/** What the events change, as lines. Throws when they contradict the records. */
export function changeLines(events: readonly LedgerEvent[], { reservations }: Records): string[] {
  const changed = changedReservations(events, (id) => reservations.get(id));
  const changes = [
    ...[...changed].map(
      ([id, reservation]): Change =>
        reservation === undefined ? ["forgotten", id] : ["reservation", reservation],
    ),
    ...events.flatMap(otherChange),
  ];
  return changes.map((change) => JSON.stringify(change));
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

/** All of the records as lines that make them anew. */
export function* snapshotLines(records: Records): Generator<string> {
  const { reservations, closedKeys, cordons, adoption } = records;
  const line = (change: Change): string => JSON.stringify(change);
  for (const reservation of reservations.values()) yield line(["reservation", reservation]);
  for (const closedKey of closedKeys.values()) yield line(["closed-key", closedKey]);
  for (const [clusterId, cordon] of cordons) yield line(["cordon", clusterId, cordon]);
  if (adoption !== undefined) yield line(["adoption", adoption]);
}

export function replay(records: Records, lines: Iterable<string>): void {
  for (const line of lines) make(records, parseStored<Change>(line));
}

function make(records: Records, change: Change): void {
  const { reservations, closedKeys, cordons } = records;
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
    case "adoption":
      records.adoption = change[1];
  }
}

function keyName(requester: ClusterId, key: string): string {
  return `${requester}\n${key}`;
}
