import type {
  AdoptionWindow,
  ClosedKey,
  ClusterId,
  Cordon,
  Decision,
  ReceivedAdvertisement,
  Reservation,
} from "@resource-broker/domain";
import { decodeDecision, encodeDecision } from "./decision-codec.ts";
import { type Cell, parseStored } from "./seals.ts";

/** PostgreSQL's names. SQLite uses only the names of the columns. */
export type ColumnType = "text" | "bigint" | "bytea";

export interface TableShape {
  readonly table: string;
  /** The first column is the key, the last one the body. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  /** The rows are history, which is trimmed. */
  readonly isHistory?: true;
}

/** Maps one kind of record to its table in a SQL store. */
export interface RecordTable<T> extends TableShape {
  readonly cells: (value: T) => readonly Cell[];
  readonly parse: (body: Cell) => T;
  /** A row is replaced only by one that is not older by this column. */
  readonly newestBy?: string;
}

export interface CordonedCluster {
  readonly clusterId: ClusterId;
  readonly cordon: Cordon;
}

export const RESERVATION: RecordTable<Reservation> = {
  table: "reservation",
  columns: [
    ["id", "text"],
    ["phase", "text"],
    ["body", "text"],
  ],
  cells: (reservation) => [reservation.id, reservation.phase, JSON.stringify(reservation)],
  parse: parseBody,
};

export const CLOSED_KEY: RecordTable<ClosedKey> = {
  table: "closed_key",
  columns: [
    ["name", "text"],
    ["body", "text"],
  ],
  cells: (closedKey) => [closedKeyName(closedKey), JSON.stringify(closedKey)],
  parse: parseBody,
};

export const CORDON: RecordTable<CordonedCluster> = {
  table: "cordon",
  columns: [
    ["cluster_id", "text"],
    ["body", "text"],
  ],
  cells: (cordoned) => [cordoned.clusterId, JSON.stringify(cordoned)],
  parse: parseBody,
};

export const ADOPTION: RecordTable<AdoptionWindow> = {
  table: "adoption",
  columns: [
    ["name", "text"],
    ["body", "text"],
  ],
  cells: (window) => ["window", JSON.stringify(window)],
  parse: parseBody,
};

export const ADVERTISEMENT: RecordTable<ReceivedAdvertisement> = {
  table: "advertisement",
  columns: [
    ["cluster_id", "text"],
    ["received_at", "bigint"],
    ["body", "text"],
  ],
  cells: (received) => [received.advertisement.clusterId, received.receivedAt, JSON.stringify(received)],
  parse: parseBody,
  newestBy: "received_at",
};

export const DECISION: RecordTable<Decision> = {
  table: "decision",
  columns: [
    ["id", "text"],
    ["at", "bigint"],
    ["body", "bytea"],
  ],
  cells: (decision) => [decision.id, decision.at, encodeDecision(decision)],
  isHistory: true,
  parse: (body) => decodeDecision(body instanceof Uint8Array ? body : Buffer.from(String(body))),
};

/** As JSON: a key can be any text, and no two pairs may share a name. */
export function closedKeyName({ requester, key }: Pick<ClosedKey, "requester" | "key">): string {
  return JSON.stringify([requester, key]);
}

function parseBody<T>(body: Cell): T {
  return parseStored(String(body));
}
