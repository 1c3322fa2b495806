/** One row of the table: a measurement, with its target if there is one. */
export interface BenchRow {
  readonly metric: string;
  readonly now: string;
  readonly target?: string;
  readonly predecessor?: string;
  /** What one must know to read the figure. */
  readonly note?: string;
}

export function benchTable(rows: readonly BenchRow[]): string {
  const cells = [
    ["", "now", "target", "predecessor", ""],
    ...rows.map(({ metric, now, target = "", predecessor = "", note = "" }) => [
      metric,
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
