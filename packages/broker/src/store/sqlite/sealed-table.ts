import type { DatabaseSync } from "node:sqlite";
import type { RecordTable } from "../common/record-tables.ts";
import { sealOf } from "../common/seal.ts";
import { checkSum, type TableSum, type TableSums, withRow } from "../common/table-sums.ts";
import { unseal } from "./unseal.ts";

/** A table whose rows carry a seal: what was damaged is noticed when it is read, never handed on. */
export interface SealedTable<T> {
  readonly put: (value: T) => void;
  readonly remove: (name: string) => void;
  readonly find: (name: string) => T | undefined;
  /** Read to its end, it must be what was committed. */
  readonly all: () => Iterable<T>;
}

export function sealedTable<T>(
  database: DatabaseSync,
  mapping: RecordTable<T>,
  sums: TableSums,
): SealedTable<T> {
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
