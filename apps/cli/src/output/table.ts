import { stripVTControlCharacters } from "node:util";
import { safeCell } from "./colour.ts";

export interface Column<Item> {
  readonly title: string;
  readonly value: (item: Item) => string;
}

const COLUMN_SPACING = "   ";

/** Columns as wide as their widest cell, titles above them, as kubectl prints them; nothing when there is nothing. */
export function table<Item>(columns: readonly Column<Item>[], items: readonly Item[]): string {
  if (items.length === 0) return "";
  const rows = [
    columns.map(({ title }) => title),
    ...items.map((item) => columns.map(({ value }) => value(item))),
  ];
  return aligned(rows);
}

/** Titles on the left, values on the right: one thing with all its properties. */
export function properties(rows: readonly (readonly [title: string, value: string])[]): string {
  return aligned(rows.map(([title, value]) => [`${title}:`, value]));
}

function aligned(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map(safeCell));
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ""))),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
        .join(COLUMN_SPACING)
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** What is seen of it: colours take no room. */
function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length;
}
