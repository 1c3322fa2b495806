import type { DecisionUpdate, EventUpdate } from "../updates/update.ts";
import { cell, type Line, line, span } from "./line.ts";

const TIME_WIDTH = 10;
const SOURCE_WIDTH = 9;
const LEVEL_STYLES = { info: "plain", warn: "careful", error: "bad" } as const;

/** Two rows each: what, and why. */
export function decisionRows(decisions: readonly DecisionUpdate[], canAsk: boolean): Line[] {
  if (decisions.length === 0)
    return [line(span(canAsk ? "none yet: c shows how to ask for something" : "none yet", "quiet"))];
  return decisions.flatMap(({ at, winner, headline, why, price }) => [
    line(
      span(cell(timeOf(at), TIME_WIDTH), "quiet"),
      span(headline, winner === undefined ? "bad" : "good"),
      price === undefined ? "" : `  ${price}`,
    ),
    line(" ".repeat(TIME_WIDTH), span(why, "quiet")),
  ]);
}

export function eventRow({ at, source, level, text }: EventUpdate): Line {
  return line(
    span(cell(timeOf(at), TIME_WIDTH), "quiet"),
    cell(source, SOURCE_WIDTH - 1),
    " ",
    span(text, LEVEL_STYLES[level]),
  );
}

/** `10:00:00` of an RFC 3339 time. */
export function timeOf(at: string): string {
  return at.slice(11, 19);
}
