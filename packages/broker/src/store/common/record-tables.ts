import type {
  AdoptionWindow,
  ClosedDay,
  ClosedKey,
  ClusterId,
  Cordon,
  Decision,
  Member,
  ReceivedAdvertisement,
  Reservation,
  Waiting,
} from "@resource-broker/domain";
import { StoreFailure } from "../store.ts";
import { decodeDecision, encodeDecision } from "./decision-codec.ts";
import { type Cell, parseStored, sealOf } from "./seals.ts";

/** PostgreSQL's names. SQLite uses only the names of the columns. */
export type ColumnType = "text" | "bigint" | "bytea";

export interface TableShape {
  readonly table: string;
  /** The first column is the key, the last one the body. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  /** The rows are history, which is trimmed. */
  readonly isHistory?: true;
  /** A row is replaced only by one that is not older by this column. */
  readonly newestBy?: string;
}

/** The cells of one row, in the order of the columns, without its seal. */
export type Cells = readonly Cell[];

/** A row as a SQL client returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** Maps one kind of record to its table in a SQL store. */
export interface RecordTable<T> extends TableShape {
  readonly cells: (value: T) => Cells;
  readonly parse: (body: Cell) => T;
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

/** Requests that wait for capacity, and those that left the queue without a grant. */
export const WAITING: RecordTable<Waiting> = {
  table: "waiting",
  columns: [
    ["id", "text"],
    ["phase", "text"],
    ["body", "text"],
  ],
  cells: (entry) => [entry.id, entry.phase, JSON.stringify(entry)],
  parse: parseBody,
};

/** What tenants were charged on days that are over. */
export const CLOSED_DAY: RecordTable<ClosedDay> = {
  table: "closed_day",
  columns: [
    ["day", "text"],
    ["body", "text"],
  ],
  cells: (closedDay) => [String(closedDay.day), JSON.stringify(closedDay)],
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

export const MEMBER: RecordTable<Member> = {
  table: "member",
  columns: [
    ["cluster_id", "text"],
    ["body", "text"],
  ],
  cells: (member) => [member.clusterId, JSON.stringify(member)],
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

/** Every table of records. */
export const RECORD_TABLES: readonly TableShape[] = [
  RESERVATION,
  WAITING,
  CLOSED_DAY,
  CLOSED_KEY,
  CORDON,
  ADOPTION,
  MEMBER,
  ADVERTISEMENT,
  DECISION,
];

/** What a row holds, once its seal was found to fit: a damaged one is noticed when it is read, never handed on. */
export function valueFrom<T>({ table, columns, parse }: RecordTable<T>, row: Row): T {
  const names = columns.map(([name]) => name);
  return parse(unseal(table, row, names).at(-1) ?? "");
}

/** The cells of the named columns, in that order, once the row's seal was found to fit them. */
export function unseal(table: string, row: Row, columns: readonly string[]): Cell[] {
  // A seal does not tell a number from its text, which is how some clients return large numbers.
  const cells = columns.map((column) => {
    const value = row[column];
    return value instanceof Uint8Array ? value : String(value);
  });
  if (Number(row["seal"]) === sealOf(table, cells)) return cells;
  throw new StoreFailure(
    "corrupt",
    `a row of table ${table} (${String(cells[0])}) is damaged; restore a backup`,
  );
}

/** As JSON: a key can be any text, and no two pairs may share a name. */
export function closedKeyName({ requester, key }: Pick<ClosedKey, "requester" | "key">): string {
  return JSON.stringify([requester, key]);
}

function parseBody<T>(body: Cell): T {
  return parseStored(String(body));
}
