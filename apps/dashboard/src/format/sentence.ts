import { momentText } from "./time.ts";

/** What the broker says, as a sentence of its own: it begins most of its messages small. */
export function sentence(text: string): string {
  const [first = ""] = text;
  const capitalized = `${first.toUpperCase()}${text.slice(first.length)}`;
  return capitalized === "" || /[.!?…]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

const RFC3339 = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const BYTES = /(\d)([KMGTPE]i) Memory\b/g;
const BETWEEN_AMOUNTS = /(CPU|[KMGTPE]iB) \/ (?=\d)/g;

/** The broker's words with times in the reader's own clock, and amounts as they stand elsewhere on the pages. */
export function localized(text: string): string {
  return text
    .replaceAll(RFC3339, (time) => momentText(Date.parse(time)))
    .replaceAll(BYTES, "$1\u00a0$2B")
    .replaceAll(BETWEEN_AMOUNTS, "$1\u00a0· ");
}
