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
