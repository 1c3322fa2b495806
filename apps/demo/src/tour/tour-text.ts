import { type Line, line, renderLine, span } from "../view/line.ts";
import type { TerminalFeatures } from "../view/render.ts";

/** The widest line of the tour. */
export const COLUMNS = 100;
const TEXT_COLUMNS = 76;
const INDENT = "  ";

export interface StepHeading {
  readonly number: number;
  readonly of: number;
  readonly title: string;
}

/** Rows as text. A terminal that is narrower breaks them: nothing of a reason is cut off. */
export function renderRows(rows: readonly Line[], features: TerminalFeatures): string {
  return rows.map((row) => `${renderLine(row, { width: COLUMNS, ...features })}\n`).join("");
}

export function headingRows({ number, of, title }: StepHeading): Line[] {
  return [line(), line(span(`${number}/${of}  ${title}`, "title")), line()];
}

/** What is said, in lines that are easy to read. */
export function narrationRows(says: string): Line[] {
  return wrapped(says).map((text) => line(INDENT, text));
}

/** Room for what a step shows on a terminal of so many columns. */
export function shownColumns(terminalColumns: number): number {
  return Math.min(COLUMNS, terminalColumns) - 2 * INDENT.length;
}

export function shownRows(rows: readonly Line[]): Line[] {
  return [line(), ...rows.map((row) => (row.length === 0 ? row : line(INDENT, INDENT, ...row)))];
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of text.split(" ")) {
    const longer = current === "" ? word : `${current} ${word}`;
    if (longer.length <= TEXT_COLUMNS || current === "") current = longer;
    else {
      lines.push(current);
      current = word;
    }
  }
  return [...lines, current];
}
