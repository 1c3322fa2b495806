/** A figure of both encodings beside its target. */
export interface Row {
  readonly metric: string;
  readonly target: string;
  readonly protobuf: string;
  readonly json: string;
}

export function tableOf(rows: readonly Row[]): string {
  const cells = [
    ["", "protobuf", "JSON", "target"],
    ...rows.map(({ metric, protobuf, json, target }) => [metric, protobuf, json, target]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
