import type { SummaryRow } from "../evaluation-test.ts";

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Three figures are all that measurements are good for: `12,345`, `87.3`, `4.56`, `0.0312`, `0`. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 99.95) return GROUPED.format(value);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  const digits = Math.min(6, 2 - Math.floor(Math.log10(size)));
  return value.toFixed(digits).replace(/0+$/, "").replace(/\.$/, "");
}

/** Whole numbers were counted: `3` and not `3.00`. */
export function valueText(value: number): string {
  return Number.isInteger(value) ? countText(value) : numberText(value);
}

/** The same where a whole number was counted. */
export function countText(value: number): string {
  return GROUPED.format(value);
}

/** `4.56 ms`, and `–` where nothing was measured. */
export function withUnit(value: number | undefined, unit: string): string {
  return value === undefined ? NOTHING : `${numberText(value)} ${unit}`;
}

/** Stands where there is nothing to say. */
export const NOTHING = "–";

/** Differences below this are noise. */
const SAME = 1.05;

/**
 * How much better ours is than theirs where less is better: `20×`, or `worse: 1.5×`. Where more is better, hand the two in
 * the other way round. Nothing is said where one of them is missing.
 */
export function factorText(ours: number | undefined, theirs: number | undefined): string {
  if (ours === undefined || theirs === undefined || ours <= 0 || theirs <= 0) return NOTHING;
  const factor = theirs / ours;
  if (factor >= SAME) return `${rounded(factor)}×`;
  return factor > 1 / SAME ? "the same" : `worse: ${rounded(1 / factor)}×`;
}

function rounded(factor: number): string {
  if (factor >= 10) return countText(factor);
  return factor.toFixed(1);
}

/** A row of the summary that is compared with nothing. */
export function plainRow(metric: string, ours: string): SummaryRow {
  return { metric, ours, theirs: NOTHING, factor: NOTHING };
}

/** A row of the summary with both figures; less is better. */
export function comparedRow(
  metric: string,
  unit: string,
  [ours, theirs]: readonly [ours: number | undefined, theirs: number | undefined],
): SummaryRow {
  return {
    metric,
    ours: withUnit(ours, unit),
    theirs: withUnit(theirs, unit),
    factor: factorText(ours, theirs),
  };
}

/** Text, a whole number that was counted, or a figure with its unit. */
type Cell = string | number | readonly [value: number | undefined, unit: string];

/** A Markdown table with one line for each row: the columns by their heads, and what each says of a row. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): string {
  const lines = rows.map((row) => Object.values(columns).map((cell) => cellText(cell(row))));
  return markdownTable(Object.keys(columns), lines);
}

/** Columns with these figures of a distribution, each called as its field. */
export function columnsOf<Field extends string>(
  unit: string,
  ...fields: readonly Field[]
): Readonly<Record<string, (row: Readonly<Partial<Record<Field, number>>>) => Cell>> {
  return Object.fromEntries(fields.map((field) => [field, (row) => [row[field], unit] as const]));
}

function cellText(cell: Cell): string {
  if (typeof cell === "string") return cell;
  return typeof cell === "number" ? countText(cell) : withUnit(...cell);
}

/** A Markdown table; the first column to the left, the others to the right unless told otherwise. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  align: (column: number) => "left" | "right" = (column) => (column === 0 ? "left" : "right"),
): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(" | ")} |`;
  const rule = head.map((_, column) => (align(column) === "left" ? "---" : "--:"));
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
