import type { DatabaseSync } from "node:sqlite";
import { type Cell, sealOf, unseal } from "./seal.ts";

/** How one kind of thing lies in its table. The first column names it, the last one is its body. */
export interface TableForm<T> {
  readonly table: string;
  readonly columns: readonly string[];
  readonly cells: (value: T) => readonly Cell[];
  readonly parse: (body: Cell) => T;
  /** A row is replaced only by one that is not older by this column. */
  readonly newestBy?: string;
}

/** A table whose rows carry a seal: what was damaged is noticed when it is read, never handed on. */
export interface SealedTable<T> {
  readonly put: (value: T) => void;
  readonly remove: (name: string) => void;
  readonly find: (name: string) => T | undefined;
  readonly all: () => Iterable<T>;
}

export function sealedTable<T>(database: DatabaseSync, form: TableForm<T>): SealedTable<T> {
  const { table, columns, cells, parse, newestBy } = form;
  const names = [...columns, "seal"];
  const [key] = names;
  const select = `SELECT ${names.join(", ")} FROM ${table}`;
  const put = database.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
     ON CONFLICT (${key}) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}
     ${newestBy === undefined ? "" : `WHERE excluded.${newestBy} >= ${newestBy}`}`,
  );
  const remove = database.prepare(`DELETE FROM ${table} WHERE ${key} = ?`);
  const find = database.prepare(`${select} WHERE ${key} = ?`);
  const all = database.prepare(select);
  const valueOf = (row: Parameters<typeof unseal>[1]): T => parse(unseal(table, row, columns).at(-1) ?? "");
  return {
    put: (value) => {
      const content = cells(value);
      put.run(...content, sealOf(table, content));
    },
    remove: (name) => {
      remove.run(name);
    },
    find: (name) => {
      const row = find.get(name);
      return row === undefined ? undefined : valueOf(row);
    },
    *all() {
      for (const row of all.iterate()) yield valueOf(row);
    },
  };
}
