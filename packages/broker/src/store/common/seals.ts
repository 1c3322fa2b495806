import { crc32 } from "node:zlib";
import { StoreFailure } from "../store.ts";

/** A value of one column. */
export type Cell = string | number | Uint8Array;

/**
 * A checksum over one row's content and the table it belongs to. A database checks the structure of its pages but not
 * the values in them: the seal detects a flipped bit in a row. It guards against faulty disks, not against people.
 */
export function sealOf(table: string, cells: readonly Cell[]): number {
  let checksum = crc32(table);
  for (const cell of cells)
    checksum = crc32(typeof cell === "number" ? String(cell) : cell, crc32("\n", checksum));
  return checksum;
}

/**
 * Reads a body that this code wrote. Its row's seal was checked, and a change of shape comes with a migration, so the
 * type is taken on trust here and nowhere else.
 */
export function parseStored<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- we wrote it, and its seal was checked
  return JSON.parse(text) as T;
}

/** How many rows a table has, and the sum of their seals. */
export type TableSum = readonly [rows: number, seals: number];

/** Keeps a sum an exact number, however many rows there are. */
export const SUM_MODULUS = 2 ** 48;
export const NO_ROWS: TableSum = [0, 0];

export function withRow([rows, seals]: TableSum, seal: number): TableSum {
  return [rows + 1, (seals + seal) % SUM_MODULUS];
}

export function withoutRow([rows, seals]: TableSum, seal: number): TableSum {
  return [rows - 1, (seals - seal + SUM_MODULUS) % SUM_MODULUS];
}

/**
 * Row count and sum of seals of each table, written with the ledger's header in the same transaction. A row's seal detects
 * a changed row; only the sum detects a row that was removed, added, or replaced by an older version.
 */
export class TableSums {
  readonly #sums = new Map<string, TableSum>();

  constructor(text = "{}") {
    this.load(text);
  }

  /** Replaces the sums by those of a header. */
  load(text: string): void {
    this.#sums.clear();
    for (const [table, sum] of Object.entries(parseStored<Record<string, TableSum>>(text)))
      this.#sums.set(table, sum);
  }

  add(table: string, seal: number): void {
    this.#sums.set(table, withRow(this.of(table), seal));
  }

  remove(table: string, seal: number): void {
    this.#sums.set(table, withoutRow(this.of(table), seal));
  }

  of(table: string): TableSum {
    return this.#sums.get(table) ?? NO_ROWS;
  }

  get text(): string {
    return JSON.stringify(Object.fromEntries(this.#sums));
  }
}

/** Throws a StoreFailure when what was read from end to end does not hold what it must; `subject`: its name, for people. */
export function checkSum(subject: string, found: TableSum, expected: TableSum): void {
  const [rows, seals] = expected;
  if (found[0] === rows && found[1] === seals) return;
  const what =
    found[0] === rows
      ? `${subject} does not hold the rows that were committed`
      : `${subject} holds ${found[0]} rows, and ${rows} were committed`;
  throw new StoreFailure("corrupt", `${what}: another program has changed it; restore a backup`);
}
