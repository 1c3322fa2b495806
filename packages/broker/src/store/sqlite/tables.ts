import type { DatabaseSync } from "node:sqlite";
import type { TableChange } from "../common/changes.ts";
import {
  type Cells,
  RESERVATION,
  type RecordTable,
  type Row,
  type TableShape,
  valueFrom,
} from "../common/record-tables.ts";
import { checkSum, NO_ROWS, sealOf, type TableSums, withRow } from "../common/seals.ts";
import { StoreFailure } from "../store.ts";

/**
 * Where the reservations are. Their ids are hashes, so an index on disk would change a random page for each insert and
 * double the written bytes. Instead they lie in order of creation, and this process keeps the row number of each id in
 * memory.
 */
class RowNumbers {
  readonly #committed = new Map<string, number>();
  /** Where the open transaction puts things; undefined: nowhere any more. */
  readonly #uncommitted = new Map<string, number | undefined>();
  #last = 0;

  /** A row that was read. */
  learn(id: string, number: number): void {
    if (this.#committed.has(id))
      throw new StoreFailure("corrupt", `reservation ${id} is stored twice; restore a backup`);
    this.#committed.set(id, number);
    this.#last = Math.max(this.#last, number);
  }

  of(id: string): number | undefined {
    return this.#uncommitted.has(id) ? this.#uncommitted.get(id) : this.#committed.get(id);
  }

  /** The number of a new row. */
  assign(id: string): number {
    this.#uncommitted.set(id, ++this.#last);
    return this.#last;
  }

  remove(id: string): void {
    this.#uncommitted.set(id, undefined);
  }

  confirm(): void {
    for (const [id, number] of this.#uncommitted) {
      if (number === undefined) this.#committed.delete(id);
      else this.#committed.set(id, number);
    }
    this.#uncommitted.clear();
  }

  revert(): void {
    this.#uncommitted.clear();
  }
}

/** The tables of records, whose rows carry a seal. */
export interface Tables {
  readonly find: <T>(mapping: RecordTable<T>, name: string) => T | undefined;
  /** Read to its end, it must be what was committed. That of the reservations comes before everything else. */
  readonly all: <T>(mapping: RecordTable<T>) => Iterable<T>;
  readonly write: (change: TableChange) => void;
  /** The transaction is through: what it changed stays. */
  readonly confirm: () => void;
  /** The transaction was undone, and so is what it changed. */
  readonly revert: () => void;
}

export function openTables(database: DatabaseSync, sums: TableSums): Tables {
  const rowNumbers = new RowNumbers();
  const tables = new Map<TableShape, SealedTable>();
  const opened = (shape: TableShape): SealedTable => {
    const isReservations = shape === RESERVATION;
    const table =
      tables.get(shape) ?? sealedTable(database, shape, { sums, ...(isReservations ? { rowNumbers } : {}) });
    tables.set(shape, table);
    return table;
  };
  return {
    find: (mapping, name) => {
      const row = opened(mapping).find(name);
      return row === undefined ? undefined : valueFrom(mapping, row);
    },
    *all(mapping) {
      for (const row of opened(mapping).all()) yield valueFrom(mapping, row);
    },
    write: ({ shape, remove, put }) => {
      const table = opened(shape);
      for (const name of remove) table.remove(name);
      for (const cells of put) table.put(cells);
    },
    confirm: () => rowNumbers.confirm(),
    revert: () => rowNumbers.revert(),
  };
}

interface SealedTable {
  readonly put: (cells: Cells) => void;
  readonly remove: (name: string) => void;
  readonly find: (name: string) => Row | undefined;
  readonly all: () => Iterable<Row>;
}

interface SealedTableDeps {
  readonly sums: TableSums;
  /** Absent: rows are found by their name. */
  readonly rowNumbers?: RowNumbers;
}

function sealedTable(
  database: DatabaseSync,
  { table, columns, newestBy }: TableShape,
  { sums, rowNumbers }: SealedTableDeps,
): SealedTable {
  const content = columns.map(([name]) => name);
  const names = [...(rowNumbers === undefined ? [] : ["sequence"]), ...content, "seal"];
  const [key = "", ...others] = names;
  const [nameColumn = ""] = content;
  const select = `SELECT ${names.join(", ")} FROM ${table}`;
  const put = database.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
     ON CONFLICT (${key}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(", ")}
     ${newestBy === undefined ? "" : `WHERE excluded.${newestBy} >= ${newestBy}`}`,
  );
  const sealBefore = database.prepare(`SELECT seal FROM ${table} WHERE ${key} = ?`);
  const remove = database.prepare(`DELETE FROM ${table} WHERE ${key} = ? RETURNING seal`);
  const find = database.prepare(`${select} WHERE ${key} = ?`);
  const all = database.prepare(select);
  const keyOf = (name: string): string | number | undefined =>
    rowNumbers === undefined ? name : rowNumbers.of(name);
  const uncount = (before: Row | undefined): void => {
    if (before !== undefined) sums.remove(table, Number(before["seal"]));
  };
  return {
    put: (cells) => {
      const name = String(cells[0]);
      const known = keyOf(name);
      const before = known === undefined ? undefined : sealBefore.get(known);
      const place = rowNumbers === undefined ? [] : [known ?? rowNumbers.assign(name)];
      const seal = sealOf(table, cells);
      if (put.run(...place, ...cells, seal).changes === 0) return; // a newer one is there
      uncount(before);
      sums.add(table, seal);
    },
    remove: (name) => {
      const known = keyOf(name);
      if (known !== undefined) uncount(remove.get(known));
      rowNumbers?.remove(name);
    },
    find: (name) => {
      const known = keyOf(name);
      return known === undefined ? undefined : find.get(known);
    },
    *all() {
      let found = NO_ROWS;
      for (const row of all.iterate()) {
        yield row;
        rowNumbers?.learn(String(row[nameColumn]), Number(row[key]));
        found = withRow(found, Number(row["seal"]));
      }
      checkSum(`table ${table}`, found, sums.of(table));
    },
  };
}
