/** One line of the table: a figure of TARGETS.md, or one beside them. */
export interface BenchRow {
  readonly figure: string;
  readonly now: string;
  readonly target?: string;
  readonly predecessor?: string;
  /** What one must know to read the figure. */
  readonly note?: string;
}

export function tableOf(rows: readonly BenchRow[]): string {
  const cells = [
    ["", "now", "target", "predecessor", ""],
    ...rows.map(({ figure, now, target = "", predecessor = "", note = "" }) => [
      figure,
      now,
      target,
      predecessor,
      note,
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return cells.map(line).join("\n");
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** `187 (171–240) ms`. */
export function spread(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(0)} (${low.toFixed(0)}–${high.toFixed(0)}) ms`;
}

export const mb = (value: number): string => `${value.toFixed(1)} MB`;

export const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
