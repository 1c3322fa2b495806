import { type ChainedLine, chainedLines } from "../common/audit.ts";
import {
  durableEvents,
  latestOf,
  type StoredRequests,
  type TableChange,
  tableChanges,
} from "../common/changes.ts";
import { headerCells, headerFrom as headerOf, type LedgerHeader } from "../common/ledger-header.ts";
import type { Cells, ColumnType, Row, TableShape } from "../common/record-tables.ts";
import { type Cell, sealOf } from "../common/seals.ts";
import { type CommitBatch, StoreFailure } from "../store.ts";
import type { Statement, Value } from "./session.ts";

/** The numbers by which PostgreSQL knows these types; they never change. */
const OID = { text: 25, bigint: 20, bytea: 17 } as const;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;

/**
 * An array as PostgreSQL itself would send it. As text every element would be quoted here and parsed there, and bytes
 * would be twice as long: for a large batch that is most of the work.
 */
export function arrayValue(type: ColumnType, elements: readonly Cell[]): Buffer {
  const parts = elements.map((element) => elementValue(type, element));
  const size = parts.reduce((sum, part) => sum + LENGTH_BYTES + part.length, HEADER_BYTES);
  const value = Buffer.allocUnsafe(size);
  // One dimension, no nulls, the element type, the number of elements, the first index 1.
  let at = [1, 0, OID[type], elements.length, 1].reduce((from, field) => value.writeInt32BE(field, from), 0);
  for (const part of parts) {
    at = value.writeInt32BE(part.length, at);
    value.set(part, at);
    at += part.length;
  }
  return value;
}

function elementValue(type: ColumnType, element: Cell): Uint8Array {
  if (type !== "bigint") return typeof element === "object" ? element : Buffer.from(String(element));
  const value = Buffer.allocUnsafe(BIGINT_BYTES);
  value.writeBigInt64BE(BigInt(Number(element)));
  return value;
}

/** Writes all the rows with one statement; no two may have the same name. */
function upsert(schema: string, shape: TableShape, contents: readonly Cells[]): Statement {
  const { table, columns, newestBy } = shape;
  const rows = contents.map((cells) => [...cells, sealOf(table, cells)]);
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
    text: shape.isHistory ? put(given) : counted,
    values: typed.map(([, type], index) =>
      arrayValue(
        type,
        rows.map((row) => row[index] ?? ""),
      ),
    ),
  };
}

function removeRows(schema: string, { table, columns }: TableShape, names: readonly string[]): Statement {
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

/** The header is stored in the lease's row, so that a commit checks and updates one row. All but the first change. */
export const HEADER_COLUMNS = [
  "ledger_id",
  "commit_seq",
  "time",
  "audit_sequence",
  "audit_hash",
  "trimmed_sequence",
  "trimmed_hash",
  "seal",
] as const;

/** In the order of the columns. */
export function sealedHeader(header: LedgerHeader): Value[] {
  const cells = headerCells(header);
  return [...cells, sealOf("lease", cells)];
}

export function headerFrom(row: Row): LedgerHeader {
  const header = headerOf(HEADER_COLUMNS.map((column) => row[column]));
  if (Number(row["seal"]) === sealOf("lease", headerCells(header))) return header;
  throw new StoreFailure("corrupt", "the ledger's own row is damaged; restore a backup");
}

/** What a transaction writes, and the header afterwards. */
export interface Planned {
  readonly writes: readonly Statement[];
  readonly next: LedgerHeader;
}

/**
 * The statements that bring the tables to where the batch leads: a handful, however large it is. Throws when its events
 * contradict what is stored.
 */
export function planBatch(
  schema: string,
  batch: CommitBatch,
  at: { readonly header: LedgerHeader; readonly stored: StoredRequests },
): Planned {
  const { header, stored } = at;
  const changes = tableChanges(batch, stored);
  const audit = chainedLines(batch, header.audit);
  const time = Math.max(header.time, latestOf(durableEvents(batch)));
  return {
    writes: [...changes.flatMap((change) => changeStatements(schema, change)), ...appendAudit(schema, audit)],
    next: { ...header, commitNumber: batch.number, time, audit: audit.at(-1)?.link ?? header.audit },
  };
}

export function changeStatements(schema: string, { shape, remove, put }: TableChange): Statement[] {
  return [
    ...(remove.length === 0 ? [] : [removeRows(schema, shape, remove)]),
    ...(put.length === 0 ? [] : [upsert(schema, shape, put)]),
  ];
}

function appendAudit(schema: string, lines: readonly ChainedLine[]): Statement[] {
  if (lines.length === 0) return [];
  const column = (type: ColumnType, cell: (line: ChainedLine) => string | number): Buffer =>
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
