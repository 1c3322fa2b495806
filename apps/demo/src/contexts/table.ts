const GAP = "   ";

/** Rows under their titles, each column as wide as it must be. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  return [titles, ...rows].map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}
