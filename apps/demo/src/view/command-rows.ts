import type { BrokerUpdate, Step } from "../updates/update.ts";
import { type Line, line, span } from "./line.ts";
import type { Model } from "./model.ts";

const MARGIN = "   ";
/** What a shell takes for "goes on in the next line". */
const GOES_ON = " \\";

/** The commands to try next, so that they can be copied as they stand. */
export function commandRows({ steps, notes, broker }: Model, width: number): Line[] {
  if (steps.length === 0) return [line("The commands come as soon as all clusters are there.")];
  const folder = broker === undefined ? [] : [line(), line(span(filesNote(broker), "quiet"))];
  const commands = steps.flatMap((step, index) => stepRows(step, index + 1, width));
  const isTooWide = commands.some((row) => row.reduce((sum, { text }) => sum + text.length, 0) > width);
  return [
    // First: a narrow terminal is often a low one, too, and the last rows do not show.
    ...(isTooWide
      ? [line(span("A command is cut here: widen the terminal before you copy.", "careful"))]
      : []),
    line("In another terminal, one after the other:"),
    ...commands,
    ...folder,
    ...notes.map((note) => line(span(note, "careful"))),
  ];
}

function filesNote({ folder, isKept }: BrokerUpdate): string {
  return `Files and logs: ${folder} (${isKept ? "kept" : "removed at the end"})`;
}

function stepRows({ says, command }: Step, number: number, width: number): Line[] {
  // One column stays free: some terminals break a row that is full.
  const rows = brokenCommand(command, width - MARGIN.length - 1);
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

/** Split at spaces that a shell would split at; a flag keeps its value beside it. */
function wordsOf(command: string): string[] {
  const words = command.match(/(?:'[^']*'|\\.|[^\s'\\])+/gs) ?? [];
  return words.reduce<string[]>((parts, word) => {
    const flag = parts.at(-1);
    const isValue = flag !== undefined && /^--?[a-z-]+$/u.test(flag) && !word.startsWith("-");
    return isValue ? [...parts.slice(0, -1), `${flag} ${word}`] : [...parts, word];
  }, []);
}
