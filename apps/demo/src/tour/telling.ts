import { type Line, line, painted, span } from "../view/line.ts";

/** As wide as the story is told, wherever: a recording looks like the real thing. */
export const COLUMNS = 100;
const INDENT = "  ";
const TEXT_COLUMNS = 80;

export interface Looks {
  readonly hasColours: boolean;
  /** False: ASCII only. */
  readonly hasBlocks: boolean;
}

export interface Place {
  readonly number: number;
  readonly of: number;
  readonly title: string;
}

/** Rows as text. */
export function written(rows: readonly Line[], looks: Looks): string {
  return rows.map((row) => `${painted(row, { width: COLUMNS, ...looks })}\n`).join("");
}

export function headingRows({ number, of, title }: Place): Line[] {
  const count = `${number}/${of}`;
  return [line(), line(span(`${count}  ${title}`, "title")), line()];
}

/** What is said, in lines that are easy to read. */
export function sayingRows(says: string): Line[] {
  return wrapped(says, TEXT_COLUMNS).map((text) => line(INDENT, text));
}

export function shownRows(rows: readonly Line[]): Line[] {
  return [line(), ...rows.map((row) => (row.length === 0 ? row : line(`${INDENT}${INDENT}`, ...row)))];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of text.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
