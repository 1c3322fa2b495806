import { styleText } from "node:util";
import type { Host } from "../cli/host.ts";

export type Mood = "good" | "bad" | "careful" | "quiet";

const COLOURS = { good: "green", bad: "red", careful: "yellow", quiet: "gray" } as const;

/** Writes a word as it is, or in colour where a person sees it. */
export type Paint = (word: string, mood: Mood) => string;

/** Colours on a terminal only, and not for those who do not want them (https://no-color.org). */
export function paintFor({ isTerminal, env }: Pick<Host, "isTerminal" | "env">): Paint {
  const isPlain = isTerminal !== true || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  if (isPlain) return (word) => word;
  return (word, mood) => styleText(COLOURS[mood], word, { validateStream: false });
}
