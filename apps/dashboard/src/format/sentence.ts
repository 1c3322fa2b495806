import { RESOURCES } from "@resource-broker/base";
import { momentText } from "./time.ts";

/** What the broker says, as a sentence of its own: it begins most of its messages small. */
export function sentence(text: string): string {
  const [first = ""] = text;
  const capitalized = `${first.toUpperCase()}${text.slice(first.length)}`;
  return capitalized === "" || /[.!?…]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

const RFC3339 = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const TITLES = RESOURCES.map(({ title }) => title).join("|");
const BYTES = new RegExp(`(\\d)([KMGTPE]i) (?=(?:${TITLES})\\b)`, "g");
const BETWEEN_AMOUNTS = new RegExp(`(${TITLES}|[KMGTPE]iB) / (?=\\d)`, "g");

/** The broker's words with times in the reader's own clock, and amounts as they stand elsewhere on the pages. */
export function localized(text: string): string {
  return (
    text
      .replaceAll(RFC3339, (time) => momentText(Date.parse(time)))
      .replaceAll(BYTES, "$1\u00a0$2B\u00a0")
      // Bytes without a name are memory, as everywhere.
      .replaceAll("B\u00a0Memory", "B")
      .replaceAll(BETWEEN_AMOUNTS, "$1\u00a0· ")
  );
}
