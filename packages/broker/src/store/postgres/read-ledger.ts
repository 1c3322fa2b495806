import type { LedgerRecords } from "@resource-broker/domain";
import { entryFrom } from "../common/audit.ts";
import { refuseContradiction } from "../common/contradiction.ts";
import { checkAuditEnds, headerIsGone, type LedgerHeader, TAIL_LINES } from "../common/ledger-header.ts";
import {
  ADOPTION,
  ADVERTISEMENT,
  CLOSED_DAY,
  CLOSED_KEY,
  CORDON,
  MEMBER,
  RESERVATION,
  type RecordTable,
  type Row,
  type TableShape,
  valueFrom,
  WAITING,
} from "../common/record-tables.ts";
import { checkSum, NO_ROWS, SUM_MODULUS, type TableSum, withRow } from "../common/seals.ts";
import type { AuditEntry, AuditQuery, StoreContents } from "../store.ts";
import type { Session } from "./session.ts";
import { columnsOf, HEADER_COLUMNS, headerFrom } from "./tables.ts";

/** Rows that are read at a time: a large ledger must not be in memory twice. */
const PAGE_ROWS = 5000;

/**
 * Reads and checks the whole ledger as of one moment, with the epoch of that moment. All queries are sent at once,
 * because no request is served meanwhile.
 */
export async function readLedger(
  session: Session,
  schema: string,
): Promise<{ readonly contents: StoreContents; readonly header: LedgerHeader; readonly epoch: number }> {
  try {
    const [
      ,
      { header, epoch },
      first,
      tail,
      reservations,
      waiting,
      closedDays,
      closedKeys,
      cordons,
      adoption,
      members,
      advertisements,
    ] = await Promise.all([
      session.send({ text: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY" }),
      readHeader(session, schema),
      readFirstLine(session, schema),
      readAuditTail(session, schema),
      readAll(session, schema, RESERVATION),
      readAll(session, schema, WAITING),
      readAll(session, schema, CLOSED_DAY),
      readAll(session, schema, CLOSED_KEY),
      readAll(session, schema, CORDON),
      readAll(session, schema, ADOPTION),
      readAll(session, schema, MEMBER),
      readAll(session, schema, ADVERTISEMENT),
    ]);
    checkAuditEnds({ first, tail }, header);
    const records: LedgerRecords = {
      reservations,
      waiting,
      closedDays,
      closedKeys,
      cordons: cordons.map(({ clusterId, cordon }) => [clusterId, cordon] as const),
      adoption: adoption[0],
      members,
      advertisements,
      time: header.time,
    };
    refuseContradiction(records);
    return {
      contents: { ledgerId: header.ledgerId, commitNumber: header.commitNumber, records },
      header,
      epoch,
    };
  } finally {
    await session.send({ text: "ROLLBACK" }).catch(session.destroy);
  }
}

async function readHeader(
  session: Session,
  schema: string,
): Promise<{ readonly header: LedgerHeader; readonly epoch: number }> {
  const text = `SELECT epoch, ${HEADER_COLUMNS.join(", ")} FROM ${schema}.lease WHERE one = 1`;
  const [row] = (await session.send({ text })).rows;
  if (row === undefined) throw headerIsGone();
  return { header: headerFrom(row), epoch: Number(row["epoch"]) };
}

/** All rows of a table, which must be those that were committed. */
async function readAll<T>(session: Session, schema: string, mapping: RecordTable<T>): Promise<T[]> {
  const found: T[] = [];
  let sum = NO_ROWS;
  for (let after = "", isLast = false; !isLast; ) {
    const rows = await readPage(session, schema, { shape: mapping, after });
    for (const row of rows) {
      found.push(valueFrom(mapping, row));
      sum = withRow(sum, Number(row["seal"]));
    }
    isLast = rows.length < PAGE_ROWS;
    after = String(rows.at(-1)?.[mapping.columns[0]?.[0] ?? ""]);
  }
  checkSum(`table ${mapping.table}`, sum, await readSum(session, schema, mapping.table));
  return found;
}

async function readSum(session: Session, schema: string, table: string): Promise<TableSum> {
  const text = `SELECT row_count, seal_sum % ${SUM_MODULUS} AS seals FROM ${schema}.table_sum WHERE name = $1`;
  const [row] = (await session.send({ text, values: [table] })).rows;
  return row === undefined ? NO_ROWS : [Number(row["row_count"]), Number(row["seals"])];
}

async function readPage(
  session: Session,
  schema: string,
  { shape, after }: { readonly shape: TableShape; readonly after: string },
): Promise<readonly Row[]> {
  const [[key] = [""]] = shape.columns;
  const { rows } = await session.send({
    text: `SELECT ${columnsOf(shape)} FROM ${schema}.${shape.table}
      WHERE ${key} > $1 ORDER BY ${key} LIMIT ${PAGE_ROWS}`,
    values: [after],
  });
  return rows;
}

export async function readAudit(
  session: Session,
  schema: string,
  { after, limit }: AuditQuery,
): Promise<readonly AuditEntry[]> {
  const { rows } = await session.send({
    text: `SELECT sequence, line, hash FROM ${schema}.audit WHERE sequence > $1 ORDER BY sequence LIMIT $2`,
    values: [after, limit],
  });
  return rows.map(entryFrom);
}

/** The line that the log begins with; 0: it has none. */
async function readFirstLine(session: Session, schema: string): Promise<number> {
  const text = `SELECT coalesce(min(sequence), 0) AS first FROM ${schema}.audit`;
  return Number((await session.send({ text })).rows[0]?.["first"]);
}

/** The newest lines, the newest first. */
async function readAuditTail(session: Session, schema: string): Promise<readonly Row[]> {
  const text = `SELECT sequence, line, hash FROM ${schema}.audit ORDER BY sequence DESC LIMIT ${TAIL_LINES}`;
  return (await session.send({ text })).rows;
}
