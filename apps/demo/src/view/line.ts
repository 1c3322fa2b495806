import { styleText } from "node:util";
import { truncate } from "@resource-broker/base";

type TextStyle = "plain" | "title" | "quiet" | "good" | "careful" | "bad";

interface Span {
  readonly text: string;
  readonly style: TextStyle;
}

/** One row of the screen, before it is painted. */
export type Line = readonly Span[];

const COLOURS = { title: "bold", quiet: "gray", good: "green", careful: "yellow", bad: "red" } as const;

export function span(text: string, style: TextStyle = "plain"): Span {
  return { text: printable(text), style };
}

export function line(...spans: readonly (Span | string)[]): Line {
  return spans.map((each) => (typeof each === "string" ? span(each) : each));
}

/** As wide as asked, cut with an ellipsis where it is too long. */
export function cell(text: string, width: number, side: "left" | "right" = "left"): string {
  const cut = clipped(text, width);
  return side === "left" ? cut.padEnd(width) : cut.padStart(width);
}

function clipped(text: string, width: number): string {
  if (text.length <= width) return text;
  return width < 1 ? "" : `${truncate(text, width).slice(0, -1).trimEnd()}…`;
}

interface RenderOptions {
  readonly width: number;
  readonly hasColours: boolean;
  /** False: ASCII only. */
  readonly hasBlocks: boolean;
}

/** The row as it is written: never wider than the screen. */
export function renderLine(row: Line, { width, hasColours, hasBlocks }: RenderOptions): string {
  let left = width;
  let written = "";
  for (const { text, style } of row) {
    const isLast = text.length > left;
    const whole = isLast ? clipped(text, left) : text;
    const shown = hasBlocks ? whole : inAscii(whole);
    left -= shown.length;
    written +=
      hasColours && style !== "plain" ? styleText(COLOURS[style], shown, { validateStream: false }) : shown;
    if (isLast) break;
  }
  // Spaces at the end would be copied along with a command.
  return hasColours ? written : written.trimEnd();
}

/** Removes control characters of foreign text, so that it cannot move the cursor or change the line's width. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
}

const IN_ASCII: Readonly<Record<string, string>> = {
  "…": "~",
  "×": "x",
  "–": "-",
  "↑": "^",
  "↓": "v",
  "█": "#",
  "▓": "=",
  "░": ".",
};

/** As wide as before. */
function inAscii(text: string): string {
  return text.replaceAll(/[^\u0020-\u007e]/g, (letter) => IN_ASCII[letter] ?? "?");
}
