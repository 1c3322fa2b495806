import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type {
  AdoptionWindow,
  ClosedKey,
  Decision,
  ReceivedAdvertisement,
  Reservation,
  ReservationId,
} from "@resource-broker/domain";
import type { TableChange, TableChanges } from "../common/changes.ts";
import {
  ADOPTION,
  ADVERTISEMENT,
  CLOSED_KEY,
  CORDON,
  type CordonedCluster,
  DECISION,
  RESERVATION,
  type RecordTable,
} from "../common/record-tables.ts";
import { type Cell, checkSum, sealOf, type TableSum, type TableSums, withRow } from "../common/seals.ts";
import { StoreFailure } from "../store.ts";

/**
 * The reservations, in order of creation. Their ids are hashes, so an index on disk would change a random page for each
 * insert and double the written bytes. Instead, this process keeps the row number of each id in memory.
 */
interface ReservationTable {
  /** Reads all of them, which must be those that were committed, and learns where they are: comes before everything else. */
  readonly load: () => Reservation[];
  readonly find: (id: ReservationId) => Reservation | undefined;
  readonly put: (reservation: Reservation) => void;
  readonly remove: (id: ReservationId) => void;
  /** The transaction is through: what it changed stays. */
  readonly confirm: () => void;
  /** The transaction was undone, and so is what it changed. */
  readonly revert: () => void;
}

const { table: TABLE } = RESERVATION;
const COLUMNS = RESERVATION.columns.map(([name]) => name);

function reservationTable(database: DatabaseSync, sums: TableSums): ReservationTable {
  const all = database.prepare("SELECT sequence, id, phase, body, seal FROM reservation");
  const find = database.prepare("SELECT id, phase, body, seal FROM reservation WHERE sequence = ?");
  const put = database.prepare(
    "REPLACE INTO reservation (sequence, id, phase, body, seal) VALUES (?, ?, ?, ?, ?)",
  );
  const sealBefore = database.prepare("SELECT seal FROM reservation WHERE sequence = ?");
  const remove = database.prepare("DELETE FROM reservation WHERE sequence = ? RETURNING seal");
  const sequences = new Map<ReservationId, number>();
  /** Where the open transaction puts things; undefined: nowhere any more. */
  const uncommittedSequences = new Map<ReservationId, number | undefined>();
  let last = 0;
  const sequenceOf = (id: ReservationId) =>
    uncommittedSequences.has(id) ? uncommittedSequences.get(id) : sequences.get(id);
  const uncount = (before: Row | undefined): void => {
    if (before !== undefined) sums.remove(TABLE, Number(before["seal"]));
  };

  return {
    load: () => {
      const reservations: Reservation[] = [];
      let found: TableSum = [0, 0];
      for (const row of all.iterate()) {
        const reservation = reservationFrom(row);
        if (sequences.has(reservation.id)) {
          throw new StoreFailure(
            "corrupt",
            `reservation ${reservation.id} is stored twice; restore a backup`,
          );
        }
        found = withRow(found, Number(row["seal"]));
        last = Math.max(last, Number(row["sequence"]));
        sequences.set(reservation.id, Number(row["sequence"]));
        reservations.push(reservation);
      }
      checkSum(`table ${TABLE}`, found, sums.of(TABLE));
      return reservations;
    },
    find: (id) => {
      const sequence = sequenceOf(id);
      const row = sequence === undefined ? undefined : find.get(sequence);
      return row === undefined ? undefined : reservationFrom(row);
    },
    put: (reservation) => {
      const { id } = reservation;
      const known = sequenceOf(id);
      if (known !== undefined) uncount(sealBefore.get(known));
      const sequence = known ?? ++last;
      const cells = RESERVATION.cells(reservation);
      const seal = sealOf(TABLE, cells);
      put.run(sequence, ...cells, seal);
      sums.add(TABLE, seal);
      uncommittedSequences.set(id, sequence);
    },
    remove: (id) => {
      const sequence = sequenceOf(id);
      if (sequence !== undefined) uncount(remove.get(sequence));
      uncommittedSequences.set(id, undefined);
    },
    confirm: () => {
      for (const [id, sequence] of uncommittedSequences) {
        if (sequence === undefined) sequences.delete(id);
        else sequences.set(id, sequence);
      }
      uncommittedSequences.clear();
    },
    revert: () => uncommittedSequences.clear(),
  };
}

function reservationFrom(row: Row): Reservation {
  return RESERVATION.parse(unseal(TABLE, row, COLUMNS).at(-1) ?? "");
}

export interface Tables {
  readonly reservations: ReservationTable;
  readonly closedKeys: SealedTable<ClosedKey>;
  readonly cordons: SealedTable<CordonedCluster>;
  readonly adoption: SealedTable<AdoptionWindow>;
  readonly advertisements: SealedTable<ReceivedAdvertisement>;
  readonly decisions: SealedTable<Decision>;
}

export function openTables(database: DatabaseSync, sums: TableSums): Tables {
  return {
    reservations: reservationTable(database, sums),
    closedKeys: sealedTable(database, CLOSED_KEY, sums),
    cordons: sealedTable(database, CORDON, sums),
    adoption: sealedTable(database, ADOPTION, sums),
    advertisements: sealedTable(database, ADVERTISEMENT, sums),
    decisions: sealedTable(database, DECISION, sums),
  };
}

export function writeChanges(tables: Tables, changes: TableChanges): void {
  writeTable(tables.reservations, changes.reservations);
  writeTable(tables.closedKeys, changes.closedKeys);
  writeTable(tables.cordons, changes.cordons);
  writeTable(tables.adoption, changes.adoption);
  writeTable(tables.advertisements, changes.advertisements);
  writeTable(tables.decisions, changes.decisions);
}

function writeTable<T>(table: Pick<SealedTable<T>, "put" | "remove">, { remove, put }: TableChange<T>): void {
  for (const name of remove) table.remove(name);
  for (const value of put) table.put(value);
}

/** A table whose rows carry a seal: what was damaged is noticed when it is read, never handed on. */
export interface SealedTable<T> {
  readonly put: (value: T) => void;
  readonly remove: (name: string) => void;
  readonly find: (name: string) => T | undefined;
  /** Read to its end, it must be what was committed. */
  readonly all: () => Iterable<T>;
}

function sealedTable<T>(database: DatabaseSync, mapping: RecordTable<T>, sums: TableSums): SealedTable<T> {
  const { table, cells, parse, newestBy } = mapping;
  const columns = mapping.columns.map(([name]) => name);
  const names = [...columns, "seal"];
  const [key] = names;
  const select = `SELECT ${names.join(", ")} FROM ${table}`;
  const put = database.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
     ON CONFLICT (${key}) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}
     ${newestBy === undefined ? "" : `WHERE excluded.${newestBy} >= ${newestBy}`}`,
  );
  const sealBefore = database.prepare(`SELECT seal FROM ${table} WHERE ${key} = ?`);
  const remove = database.prepare(`DELETE FROM ${table} WHERE ${key} = ? RETURNING seal`);
  const find = database.prepare(`${select} WHERE ${key} = ?`);
  const all = database.prepare(select);
  const valueOf = (row: Parameters<typeof unseal>[1]): T => parse(unseal(table, row, columns).at(-1) ?? "");
  return {
    put: (value) => {
      const content = cells(value);
      const seal = sealOf(table, content);
      const before = sealBefore.get(content[0] ?? "");
      if (put.run(...content, seal).changes === 0) return; // a newer one is there
      if (before !== undefined) sums.remove(table, Number(before["seal"]));
      sums.add(table, seal);
    },
    remove: (name) => {
      const before = remove.get(name);
      if (before !== undefined) sums.remove(table, Number(before["seal"]));
    },
    find: (name) => {
      const row = find.get(name);
      return row === undefined ? undefined : valueOf(row);
    },
    *all() {
      let found: TableSum = [0, 0];
      for (const row of all.iterate()) {
        found = withRow(found, Number(row["seal"]));
        yield valueOf(row);
      }
      checkSum(`table ${table}`, found, sums.of(table));
    },
  };
}

/** A row as SQLite returns it. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** The cells of the named columns, in that order, once the row's seal was found to fit them. */
export function unseal(table: string, row: Row, columns: readonly string[]): Cell[] {
  const cells = columns.map((column) => cellOf(row[column]));
  if (row["seal"] === sealOf(table, cells)) return cells;
  throw new StoreFailure(
    "corrupt",
    `a row of table ${table} (${String(cells[0])}) is damaged; restore a backup`,
  );
}

/** The broker stores no other types: another type is damage, and it does not fit the seal. */
function cellOf(value: SQLOutputValue | undefined): Cell {
  const isCell = typeof value === "string" || typeof value === "number" || value instanceof Uint8Array;
  return isCell ? value : `not a cell: ${typeof value}`;
}
