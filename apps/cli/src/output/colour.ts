import { styleText } from "node:util";
// A direct import: the whole contract would triple the time until the help is shown.
import { safeLine, safeText } from "@resource-broker/base";
import type { Host } from "../cli/host.ts";

export type TextStyle = "good" | "bad" | "careful" | "quiet";

const COLOURS = { good: "green", bad: "red", careful: "yellow", quiet: "gray" } as const;

/** Writes a word as it is, or in colour where a person sees it. */
export type Styler = (word: string, style: TextStyle) => string;

/** Colours on a terminal only, and not for those who do not want them (https://no-color.org). */
export function stylerFor(host: Pick<Host, "isTerminal" | "env">): Styler {
  if (isPlain(host)) return (word) => word;
  return (word, style) => styleText(COLOURS[style], word, { validateStream: false });
}

function isPlain({ isTerminal, env }: Pick<Host, "isTerminal" | "env">): boolean {
  return isTerminal !== true || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
}

/** The escape sequences of our own colours; all others are removed. */
// oxlint-disable-next-line no-control-regex -- it is what colours are made of
const OUR_COLOURS = /(\u001b\[(?:31|32|33|90|39)m)/u;

/** A cell or a row: what others wrote in it stays on its line and moves no cursor. Colours stay. */
export function safeCell(text: string): string {
  return outsideColours(text, safeLine);
}

/** Everything that brokerctl prints passes here. Of all escape sequences, only those of our own colours reach the terminal. */
export function safeFor(host: Pick<Host, "isTerminal" | "env">): (text: string) => string {
  return isPlain(host) ? safeText : (text) => outsideColours(text, safeText);
}

function outsideColours(text: string, safe: (text: string) => string): string {
  const parts = text.split(OUR_COLOURS);
  return parts.map((part, index) => (index % 2 === 1 ? part : safe(part))).join("");
}
