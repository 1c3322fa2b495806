import { parseArgs } from "node:util";
import { parseDuration } from "@resource-broker/base";
import type { Argument, Command, Input, Option, Options, Values } from "./command.ts";
import { CommandError, didYouMean } from "./exit-code.ts";

type Line<O extends Options> = Pick<Command<O>, "options" | "arguments">;
type Env = Readonly<Record<string, string | undefined>>;

/** Reads a command line by the command's own table; anything that is not in the table is refused by name. */
export function parseInput<O extends Options>(line: Line<O>, args: readonly string[], env: Env): Input<O> {
  const { given, words } = split(line.options, args);
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(line.options)) {
    values[name] = readOption(name, option, given.get(name) ?? fromEnvironment(option, env));
  }
  if (!isComplete(line.options, values)) throw new Error("an option of the table was not read");
  checkWords(words, line.arguments ?? []);
  return { options: values, words };
}

interface Split {
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

function split(options: Options, args: readonly string[]): Split {
  const given = new Map<string, string[]>();
  const words: string[] = [];
  // Not strict: its messages know no "did you mean", so the tokens are checked here.
  const { tokens } = parseArgs({
    args: [...args],
    options: forParseArgs(options),
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw unknownOption(token.rawName, options);
    given.set(token.name, [...(given.get(token.name) ?? []), valueOf(token, option)]);
  }
  return { given, words };
}

interface OptionToken {
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function valueOf({ rawName, value, inlineValue }: OptionToken, option: Option): string {
  if (option.kind === "flag") {
    if (value !== undefined)
      throw new CommandError("usage", `${rawName} takes no value; leave "=${value}" out`);
    return "true";
  }
  if (value === undefined || (inlineValue === false && /^-./u.test(value))) {
    throw new CommandError(
      "usage",
      `${rawName} needs a value; ${rawName}=… takes one that starts with a dash`,
    );
  }
  return value;
}

function unknownOption(rawName: string, options: Options): CommandError {
  const known = [...Object.keys(options), "help"];
  const hint = didYouMean(rawName.replace(/^-+/u, ""), known, (name) => `--${name}`);
  return new CommandError("usage", `there is no option ${rawName} here${hint}`);
}

function checkWords(words: readonly string[], wanted: readonly Argument[]): void {
  const missing = wanted[words.length];
  if (missing !== undefined && missing.optional !== true) {
    throw new CommandError("usage", `<${missing.name}> is missing: ${missing.summary}`);
  }
  const extra = words[wanted.length];
  if (extra !== undefined) throw new CommandError("usage", `"${extra}" is an unexpected argument`);
}

function fromEnvironment(option: Option, env: Env): readonly string[] | undefined {
  const value = option.env === undefined ? undefined : env[option.env];
  return value === undefined || value === "" ? undefined : [value];
}

function isComplete<O extends Options>(options: O, values: Record<string, unknown>): values is Values<O> {
  return Object.keys(options).every((name) => name in values);
}

function forParseArgs(
  options: Options,
): Record<string, { type: "boolean" | "string"; multiple: true; short?: string }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { kind, short }]) => [
      name,
      {
        type: kind === "flag" ? "boolean" : "string",
        multiple: true,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
}

const DAY_MS = 86_400_000;

/** What the given texts of one option mean; its default when there are none. */
function readOption(
  name: string,
  option: Option,
  given: readonly string[] | undefined,
): string | number | boolean | readonly string[] | undefined {
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

function readDuration(name: string, text: string): number {
  if (/^[0-9]{1,6}d$/u.test(text)) return Number.parseInt(text, 10) * DAY_MS;
  const duration = parseDuration(text);
  if (duration.ok) return duration.ms;
  throw new CommandError("usage", `--${name}: ${duration.problem}, or 30d for days`);
}

function readChoice(name: string, text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text;
  const hint = didYouMean(text, choices);
  throw new CommandError(
    "usage",
    `--${name} ${JSON.stringify(text)}: write one of ${choices.join(", ")}${hint}`,
  );
}

export type Labels = Readonly<Record<string, string>>;

/** `tier=gold,zone=a` as labels; what has no `=` is a mistake. */
export function readLabels(option: string, texts: readonly string[]): Labels {
  const pairs = texts.map((text) => {
    const [, key, value] = /^([^=!]+)==?(.*)$/u.exec(text) ?? [];
    if (key !== undefined && value !== undefined) return [key, value] as const;
    throw new CommandError("usage", `--${option} ${JSON.stringify(text)}: write it like key=value`);
  });
  return Object.fromEntries(pairs);
}
