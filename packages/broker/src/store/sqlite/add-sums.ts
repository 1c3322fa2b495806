import type { DatabaseSync } from "node:sqlite";
import { TableSums } from "../table-sums.ts";
import { headerCells, headerWithSums, SELECT_HEADER, UPDATE_HEADER } from "./head.ts";

const TABLES = ["reservation", "closed_key", "cordon", "adoption", "advertisement", "decision"] as const;

/** Counts what an older broker has left, once: from here on every transaction keeps it up. */
export function addSums(database: DatabaseSync): void {
  const row = database.prepare(SELECT_HEADER).get();
  if (row === undefined) return; // a new ledger: its head is made with empty sums
  const sums = new TableSums();
  for (const table of TABLES) {
    for (const { seal } of database.prepare(`SELECT seal FROM ${table}`).iterate())
      sums.add(table, Number(seal));
  }
  const header = headerWithSums(row, sums.text);
  database.prepare(UPDATE_HEADER).run(...headerCells(header), header.commitNumber);
}
