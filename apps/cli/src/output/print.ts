import { stripVTControlCharacters, styleText } from "node:util";
import { safeJson, safeLine, safeText, yamlText } from "@resource-broker/base";
import type { Host, OutputFormat, View } from "../cli/command.ts";

export function print({ data, table: tableOf, names }: View, format: OutputFormat, host: Host): void {
  switch (format) {
    case "table":
    case "wide":
      return host.out(tableOf(format === "wide"));
    case "json":
      return host.out(`${safeJson(JSON.stringify(data, null, 2))}\n`);
    case "yaml":
      return host.out(yamlText(data));
    case "name":
      return host.out(names.map((name) => `${safeLine(name)}\n`).join(""));
  }
}

export interface Column<Item> {
  readonly title: string;
  readonly value: (item: Item) => string;
  /** True: only `-o wide` shows it. */
  readonly isWide?: boolean;
}

const COLUMN_SPACING = "   ";

/** Columns as wide as their widest cell, titles above them, as kubectl prints them; nothing when there is nothing. */
export function table<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  isWide = false,
): string {
  if (items.length === 0) return "";
  const shown = columns.filter((column) => isWide || column.isWide !== true);
  return aligned([
    shown.map(({ title }) => title),
    ...items.map((item) => shown.map(({ value }) => value(item))),
  ]);
}

/** Columns that only `-o wide` shows. */
export function wide<Item>(...columns: readonly Column<Item>[]): Column<Item>[] {
  return columns.map((column) => ({ ...column, isWide: true }));
}

/** Titles on the left, values on the right: one thing with all its properties. Those without a value are left out. */
export function properties(rows: readonly (readonly [title: string, value: string | undefined])[]): string {
  return aligned(rows.flatMap(([title, value]) => (value === undefined ? [] : [[`${title}:`, value]])));
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

export type TextStyle = "good" | "bad" | "careful" | "quiet";

const COLOURS = { good: "green", bad: "red", careful: "yellow", quiet: "gray" } as const;

/** Writes a word as it is, or in colour where a person sees it. */
export type Styler = (word: string, style: TextStyle) => string;

/** Colours on a terminal only, and not for those who do not want them (https://no-color.org). */
export function stylerFor(host: Pick<Host, "isTerminal" | "env">): Styler {
  if (isPlain(host)) return (word) => word;
  return (word, style) => styleText(COLOURS[style], word, { validateStream: false });
}

function isPlain({ isTerminal, env }: Pick<Host, "isTerminal" | "env">): boolean {
  return isTerminal !== true || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
}

/** The escape sequences of our own colours; all others are removed. */
// oxlint-disable-next-line no-control-regex -- it is what colours are made of
const OUR_COLOURS = /(\u001b\[(?:31|32|33|90|39)m)/u;

/** A cell or a row: what others wrote in it stays on its line and moves no cursor. Colours stay. */
function safeCell(text: string): string {
  return outsideColours(text, safeLine);
}

/** Everything that brokerctl prints passes here. Of all escape sequences, only those of our own colours reach the terminal. */
export function safeFor(host: Pick<Host, "isTerminal" | "env">): (text: string) => string {
  return isPlain(host) ? safeText : (text) => outsideColours(text, safeText);
}

function outsideColours(text: string, safe: (text: string) => string): string {
  const parts = text.split(OUR_COLOURS);
  return parts.map((part, index) => (index % 2 === 1 ? part : safe(part))).join("");
}
