import type { DecisionDTO } from "@resource-broker/contract";
import { type Line, line, span } from "../view/line.ts";

/** The broker's own words, the outcome and what would flip it set apart. */
export function explanationRows({ explanation, winner, flip }: DecisionDTO): Line[] {
  return explanation.split("\n").map((text, index) => {
    if (index === 0) return line(span(text, winner === undefined ? "bad" : "good"));
    if (text === flip) return line(span(text, "careful"));
    return line(text);
  });
}
