import type { CommandError } from "./exit-code.ts";

interface OptionBase {
  readonly summary: string;
  /** One letter, for `-o`. */
  readonly short?: string;
  /** The environment variable that is asked when the flag is not given. */
  readonly env?: string;
}

/** What an option takes; `value` stands for it in the help: `--dir <folder>`. */
type OptionValue =
  | { readonly kind: "flag" }
  | { readonly kind: "text"; readonly value: string; readonly default?: string }
  /** The help shows `defaultText`. The command applies it itself, so that it can distinguish a missing value from the same value given. */
  | { readonly kind: "list"; readonly value: string; readonly defaultText?: string }
  | { readonly kind: "count"; readonly value: string; readonly default?: number; readonly max: number }
  /** `30d`, or as everywhere else `12h`, `1h30m`; read as milliseconds. */
  | { readonly kind: "duration"; readonly value: string }
  | {
      readonly kind: "choice";
      readonly value: string;
      readonly choices: readonly string[];
      readonly default?: string;
    };

export type Option = OptionBase & OptionValue;
export type Options = Readonly<Record<string, Option>>;

interface Kinds {
  readonly text: string;
  readonly list: readonly string[];
  readonly flag: boolean;
  readonly count: number;
  readonly duration: number;
}

type Given<O extends Option> = O extends {
  readonly kind: "choice";
  readonly choices: readonly (infer Choice)[];
}
  ? Choice
  : O["kind"] extends keyof Kinds
    ? Kinds[O["kind"]]
    : never;

type IsAlwaysThere<O extends Option> = O["kind"] extends "flag" | "list"
  ? true
  : O extends { readonly default: unknown }
    ? true
    : false;

/** What the options of a command read as: one with a default, a list and a flag are always there. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]: IsAlwaysThere<O[Name]> extends true
    ? Given<O[Name]>
    : Given<O[Name]> | undefined;
};

export interface Argument {
  /** As the help shows it: `cluster-id`. */
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
}

export interface Input<O extends Options = Options> {
  readonly options: Values<O>;
  /** The words after the command, one for each argument at most. */
  readonly words: readonly string[];
}

/** What a command has found, in the shapes that people and programs want. */
export interface View {
  /** For json and yaml. Its shape is an interface: fields may be added, never renamed. */
  readonly data: object;
  /** `isWide`: with more columns, where there are some. */
  readonly table: (isWide: boolean) => string;
  /** What a script would loop over. */
  readonly names: readonly string[];
  /** Why the command fails all the same; said after the result is printed. */
  readonly problem?: CommandError | undefined;
}

/** Undefined: the command has printed what there is. */
export type Run<O extends Options> = (input: Input<O>, host: Host) => Promise<View | undefined>;

/** One line of the table. The help is made from it; the code behind it is loaded only when the command runs. */
export interface Command<O extends Options = Options> {
  readonly name: string;
  /** Other words for it that people bring along, such as the singular that kubectl takes, too. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** More to say in the command's own help. */
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options: O;
  readonly examples?: readonly string[];
  /** Reads what stands after the command's name, then runs it. */
  readonly start: (args: readonly string[], host: Host) => Promise<void>;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  readonly commands: readonly Entry[];
}

export type Entry = Command | CommandGroup;

/** What a group has under this name, or under this alias. */
function childOf({ commands }: CommandGroup, word: string): Entry | undefined {
  const isCalled = (entry: Entry): boolean => !isGroup(entry) && entry.aliases?.includes(word) === true;
  return commands.find(({ name }) => name === word) ?? commands.find(isCalled);
}

export function isGroup(entry: Entry): entry is CommandGroup {
  return "commands" in entry;
}

export interface FoundEntry {
  readonly entry: Entry;
  /** The names on the way: `brokerctl certs issue`. */
  readonly path: string;
  /** The words after the entry's name. */
  readonly rest: readonly string[];
}

/** Walks down the table along the first words, as far as they are known. */
export function findEntry(entry: Entry, words: readonly string[], path = entry.name): FoundEntry {
  const [word, ...rest] = words;
  const next = isGroup(entry) && word !== undefined ? childOf(entry, word) : undefined;
  return next === undefined ? { entry, path, rest: words } : findEntry(next, rest, `${path} ${next.name}`);
}

export interface ListedCommand {
  readonly command: Command;
  /** The words that lead to it: `certs`, `issue`. */
  readonly words: readonly string[];
}

/** Every command below an entry, in the order of the table. */
export function commandsBelow(entry: Entry, words: readonly string[] = []): ListedCommand[] {
  if (!isGroup(entry)) return [{ command: entry, words }];
  return entry.commands.flatMap((child) => commandsBelow(child, [...words, child.name]));
}

/** The environment of a command; `main.ts` passes the real one. */
export interface Host {
  /** Data, on standard output. */
  readonly out: (text: string) => void;
  /** Progress and problems, on standard error. */
  readonly note: (text: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True: a person sits at the terminal. */
  readonly isInteractive?: boolean;
  /** True: standard output is a terminal, so that colours are seen and not stored. */
  readonly isTerminal?: boolean;
  /** True: a program took the address to show it. Absent: there is nobody to show it to. */
  readonly openInBrowser?: (url: string) => Promise<boolean>;
  /** All of standard input, when something is piped into it. Absent: nothing is. */
  readonly readInput?: () => Promise<string>;
  /** What the person at the terminal answers, also while standard input is a pipe; undefined: nobody is there. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** What is said when the person ends the program by Ctrl-C, until the function that it returns is called. Absent: nobody can. */
  readonly onInterrupt?: (words: () => string) => () => void;
  /** Resolves so much later. */
  readonly pause: (ms: number) => Promise<void>;
}

/** How a command prints its data; the same flag on every command that has any. */
export const OUTPUT = {
  kind: "choice",
  short: "o",
  value: "format",
  choices: ["table", "wide", "json", "yaml", "name"],
  default: "table",
  summary: "how to print the result",
} as const;

export type OutputFormat = (typeof OUTPUT.choices)[number];
