import type { Step } from "../news/news.ts";
import { type Line, line, span } from "./line.ts";
import type { Model } from "./model.ts";

const MARGIN = "   ";
/** What a shell takes for "goes on in the next line". */
const GOES_ON = " \\";

/** The commands to try next, so that they can be copied as they stand. */
export function commandRows({ steps, notes, broker }: Model, width: number): Line[] {
  if (steps.length === 0) return [line("The commands come as soon as all clusters are there.")];
  const folder = broker === undefined ? [] : [line(), line(span(folderNote(broker), "quiet"))];
  return [
    line("In another terminal, one after the other:"),
    ...steps.flatMap((step, index) => stepRows(step, index + 1, width)),
    ...folder,
    ...notes.map((note) => line(span(note, "careful"))),
  ];
}

export function folderNote({
  folder,
  isKept,
}: {
  readonly folder: string;
  readonly isKept: boolean;
}): string {
  return `Files, logs included, are in ${folder} and ${isKept ? "stay there" : "are removed at the end"}.`;
}

function stepRows({ says, command }: Step, number: number, width: number): Line[] {
  const rows = brokenCommand(command, width - MARGIN.length);
  return [line(`${number}. ${says}:`), ...rows.map((row) => line(MARGIN, span(row, "title")))];
}

/** A command in rows that a shell reads as one, each narrow enough: broken between words, never inside quotes. */
export function brokenCommand(command: string, width: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of wordsOf(command)) {
    const longer = row === "" ? word : `${row} ${word}`;
    if (row === "" || longer.length + GOES_ON.length <= width) {
      row = longer;
    } else {
      rows.push(`${row}${GOES_ON}`);
      row = `  ${word}`;
    }
  }
  return [...rows, row];
}

/** Split at spaces that a shell would split at. */
function wordsOf(command: string): string[] {
  return command.match(/(?:'[^']*'|\\.|[^\s'\\])+/gs) ?? [];
}
