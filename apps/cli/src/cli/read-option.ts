import type { Option } from "./command.ts";
import { didYouMean } from "./did-you-mean.ts";
import { CommandError } from "./exit-code.ts";

const DAY_MS = 86_400_000;

/** What the given texts of one option mean; its default when there are none. */
export async function readOption(
  name: string,
  option: Option,
  given: readonly string[] | undefined,
): Promise<string | number | boolean | readonly string[] | undefined> {
  if (option.kind === "list")
    return (given ?? []).flatMap((text) => text.split(",")).filter((text) => text !== "");
  if (option.kind === "flag") return given !== undefined;
  const text = given?.at(-1);
  if (text === undefined) return "default" in option ? option.default : undefined;
  switch (option.kind) {
    case "text":
      return readText(name, text);
    case "count":
      return readCount(name, text, option.max);
    case "duration":
      return readDuration(name, text);
    case "choice":
      return readChoice(name, text, option.choices);
  }
}

function readText(name: string, text: string): string {
  if (text === "") throw new CommandError("usage", `--${name} is empty`);
  return text;
}

function readCount(name: string, text: string, max: number): number {
  const count = /^[0-9]{1,9}$/u.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw new CommandError("usage", `--${name} ${JSON.stringify(text)}: write a whole number from 1 to ${max}`);
}

async function readDuration(name: string, text: string): Promise<number> {
  if (/^[0-9]{1,6}d$/u.test(text)) return Number.parseInt(text, 10) * DAY_MS;
  const { parseDuration } = await import("@resource-broker/base");
  const duration = parseDuration(text);
  if (duration.ok) return duration.ms;
  throw new CommandError("usage", `--${name}: ${duration.problem}, or 30d for days`);
}

async function readChoice(name: string, text: string, choices: readonly string[]): Promise<string> {
  if (choices.includes(text)) return text;
  const hint = await didYouMean(text, choices);
  throw new CommandError(
    "usage",
    `--${name} ${JSON.stringify(text)}: write one of ${choices.join(", ")}${hint}`,
  );
}
