import { parseArgs } from "node:util";
import type { Argument, Command, Input, Option, Options, Values } from "./command.ts";
import { didYouMean } from "./did-you-mean.ts";
import { CommandError } from "./exit-code.ts";
import { readOption } from "./read-option.ts";

type Line<O extends Options> = Pick<Command<O>, "options" | "arguments">;
type Env = Readonly<Record<string, string | undefined>>;

/** Reads a command line by the command's own table; anything that is not in the table is refused by name. */
export async function parseInput<O extends Options>(
  line: Line<O>,
  args: readonly string[],
  env: Env,
): Promise<Input<O>> {
  const { given, words } = await split(line.options, args);
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(line.options)) {
    values[name] = await readOption(name, option, given.get(name) ?? fromEnvironment(option, env));
  }
  if (!isComplete(line.options, values)) throw new Error("an option of the table was not read");
  checkWords(words, line.arguments ?? []);
  return { options: values, words };
}

interface Split {
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

async function split(options: Options, args: readonly string[]): Promise<Split> {
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
    if (option === undefined) throw await unknownOption(token.rawName, options);
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

async function unknownOption(rawName: string, options: Options): Promise<CommandError> {
  const known = [...Object.keys(options), "help"];
  const hint = await didYouMean(rawName.replace(/^-+/u, ""), known, (name) => `--${name}`);
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
