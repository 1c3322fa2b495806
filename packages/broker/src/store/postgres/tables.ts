import type {
  AdoptionWindow,
  ClosedKey,
  ClusterId,
  Cordon,
  Decision,
  ReceivedAdvertisement,
  Reservation,
} from "@resource-broker/domain";
import { decodeDecision, encodeDecision } from "../common/decision-codec.ts";
import { parseStored } from "../common/stored-json.ts";
import { type Cell, sealOf } from "../common/seal.ts";
import { StoreFailure } from "../store.ts";
import type { Row, Statement } from "./session.ts";

export type ElementType = "text" | "bigint" | "bytea";

/** The numbers by which PostgreSQL knows these types; they never change. */
const OID = { text: 25, bigint: 20, bytea: 17 } as const;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;

/**
 * An array as PostgreSQL itself would send it. As text every element would be quoted here and parsed there, and bytes
 * would be twice as long: for a large batch that is most of the work.
 */
export function arrayValue(type: ElementType, elements: readonly Cell[]): Buffer {
  const parts = elements.map((element) => elementValue(type, element));
  const size = parts.reduce((sum, part) => sum + LENGTH_BYTES + part.length, HEADER_BYTES);
  const value = Buffer.allocUnsafe(size);
  // One dimension, no nulls, the type, so many elements, counted from 1.
  let at = [1, 0, OID[type], elements.length, 1].reduce((from, field) => value.writeInt32BE(field, from), 0);
  for (const part of parts) {
    at = value.writeInt32BE(part.length, at);
    value.set(part, at);
    at += part.length;
  }
  return value;
}

function elementValue(type: ElementType, element: Cell): Uint8Array {
  if (type !== "bigint") return typeof element === "object" ? element : Buffer.from(String(element));
  const value = Buffer.allocUnsafe(BIGINT_BYTES);
  value.writeBigInt64BE(BigInt(Number(element)));
  return value;
}

export interface TableShape {
  readonly table: string;
  /** The first column names a row, the last one is its body. */
  readonly columns: readonly (readonly [name: string, type: ElementType])[];
  /** Its rows are history, which is trimmed: they are not counted. */
  readonly isHistory?: true;
}

/** Maps one kind of record to its table. */
export interface TableMapping<T> extends TableShape {
  readonly cells: (value: T) => readonly Cell[];
  readonly parse: (body: Cell) => T;
  /** A row is replaced only by one that is not older by this column. */
  readonly newestBy?: string;
}

export interface CordonedCluster {
  readonly clusterId: ClusterId;
  readonly cordon: Cordon;
}

export const RESERVATION: TableMapping<Reservation> = {
  table: "reservation",
  columns: [
    ["id", "text"],
    ["phase", "text"],
    ["body", "text"],
  ],
  cells: (reservation) => [reservation.id, reservation.phase, JSON.stringify(reservation)],
  parse: parseBody,
};

export const CLOSED_KEY: TableMapping<ClosedKey> = {
  table: "closed_key",
  columns: [
    ["name", "text"],
    ["body", "text"],
  ],
  cells: (closedKey) => [closedKeyName(closedKey), JSON.stringify(closedKey)],
  parse: parseBody,
};

export const CORDON: TableMapping<CordonedCluster> = {
  table: "cordon",
  columns: [
    ["cluster_id", "text"],
    ["body", "text"],
  ],
  cells: (cordoned) => [cordoned.clusterId, JSON.stringify(cordoned)],
  parse: parseBody,
};

export const ADOPTION: TableMapping<AdoptionWindow> = {
  table: "adoption",
  columns: [
    ["name", "text"],
    ["body", "text"],
  ],
  cells: (window) => ["window", JSON.stringify(window)],
  parse: parseBody,
};

export const ADVERTISEMENT: TableMapping<ReceivedAdvertisement> = {
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

export const DECISION: TableMapping<Decision> = {
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

/** As JSON: keys are anybody's text, and no two pairs may share a name. */
export function closedKeyName({ requester, key }: Pick<ClosedKey, "requester" | "key">): string {
  return JSON.stringify([requester, key]);
}

/** Writes all the values with one statement; no two may have the same name. */
export function upsert<T>(schema: string, mapping: TableMapping<T>, values: readonly T[]): Statement {
  const { table, columns, cells, newestBy } = mapping;
  const rows = values.map((value) => {
    const content = cells(value);
    return [...content, sealOf(table, content)];
  });
  const typed: TableShape["columns"] = [...columns, ["seal", "bigint"]];
  const names = typed.map(([name]) => name);
  const list = names.join(", ");
  const arrays = typed.map(([, type], index) => `$${index + 1}::${type}[]`);
  const assignments = names.map((name) => `${name} = excluded.${name}`).join(", ");
  const isNewer = newestBy === undefined ? "" : `WHERE excluded.${newestBy} >= kept.${newestBy}`;
  const [key] = names;
  const given = `SELECT ${list} FROM unnest(${arrays.join(", ")}) AS given (${list})`;
  const put = (source: string): string =>
    `INSERT INTO ${schema}.${table} AS kept (${list}) ${source}
      ON CONFLICT (${key}) DO UPDATE SET ${assignments} ${isNewer}`;
  const counted = `WITH given AS (${given}),
      before AS (SELECT ${key}, seal FROM ${schema}.${table} WHERE ${key} IN (SELECT ${key} FROM given)),
      put AS (${put(`SELECT ${list} FROM given`)} RETURNING kept.${key}, kept.seal)
      ${countInto(schema)}
      SELECT '${table}', count(put.${key}) - count(before.${key}),
        coalesce(sum(put.seal), 0) - coalesce(sum(before.seal), 0)
      FROM put LEFT JOIN before ON before.${key} = put.${key} ${ADD_TO_SUM}`;
  return {
    name: `put_${table}`,
    text: mapping.isHistory ? put(given) : counted,
    values: typed.map(([, type], index) =>
      arrayValue(
        type,
        rows.map((row) => row[index] ?? ""),
      ),
    ),
  };
}

export function remove(schema: string, { table, columns }: TableShape, names: readonly string[]): Statement {
  const [[key] = [""]] = columns;
  return {
    name: `remove_${table}`,
    text: `WITH gone AS (DELETE FROM ${schema}.${table} WHERE ${key} = ANY($1::text[]) RETURNING seal)
      ${countInto(schema)} SELECT '${table}', -count(*), -coalesce(sum(seal), 0) FROM gone ${ADD_TO_SUM}`,
    values: [arrayValue("text", names)],
  };
}

/** Each statement also updates the table's sum, so that no write can omit it. */
function countInto(schema: string): string {
  return `INSERT INTO ${schema}.table_sum AS sums (name, row_count, seal_sum)`;
}

const ADD_TO_SUM = `ON CONFLICT (name) DO UPDATE SET
  row_count = sums.row_count + excluded.row_count, seal_sum = sums.seal_sum + excluded.seal_sum`;

export function columnsOf({ columns }: TableShape): string {
  return [...columns.map(([name]) => name), "seal"].join(", ");
}

/** What a row holds, once its seal was found to fit: a damaged one is noticed when it is read, never handed on. */
export function valueFrom<T>({ table, columns, parse }: TableMapping<T>, row: Row): T {
  const cells = columns.map(([name, type]): Cell => cellOf(row[name], type));
  if (Number(row["seal"]) === sealOf(table, cells)) return parse(cells.at(-1) ?? "");
  throw new StoreFailure(
    "corrupt",
    `a row of table ${table} (${String(cells[0])}) is damaged; restore a backup`,
  );
}

/** The client hands large whole numbers over as text. */
function cellOf(value: unknown, type: ElementType): Cell {
  if (value instanceof Uint8Array) return value;
  return type === "bigint" ? Number(value) : String(value);
}

function parseBody<T>(body: Cell): T {
  return parseStored(String(body));
}
