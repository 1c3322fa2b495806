import { type Command, type CommandGroup, type Entry, isGroup, type Option } from "../cli/command.ts";

/** What can be written as an option's value. */
export type ValueKind =
  | { readonly kind: "none" }
  | { readonly kind: "choices"; readonly choices: readonly string[] }
  | { readonly kind: "file" | "folder" | "anything" };

export interface OptionWord {
  readonly name: string;
  readonly short: string | undefined;
  readonly summary: string;
  readonly value: ValueKind;
}

/** A point on the way down the table, and what may come next there. */
export interface CommandNode {
  /** `brokerctl get clusters` */
  readonly path: string;
  /** The same with other words for the command. */
  readonly otherPaths: readonly string[];
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly OptionWord[];
  /** The command's first argument is a file or a folder. */
  readonly takesFile: boolean;
}

const HELP: OptionWord = {
  name: "help",
  short: "h",
  summary: "what the command does",
  value: { kind: "none" },
};

export function commandNodes(root: CommandGroup): readonly CommandNode[] {
  return below(root, root.name);
}

function below(entry: Entry, path: string): CommandNode[] {
  if (!isGroup(entry)) return [placeOf(entry, path)];
  const commands = entry.commands.map(({ name, summary }) => ({ name, summary }));
  const here = { path, otherPaths: [], commands, options: [HELP], takesFile: false };
  return [here, ...entry.commands.flatMap((child) => below(child, `${path} ${child.name}`))];
}

function placeOf(command: Command, path: string): CommandNode {
  const options = Object.entries(command.options).map(([name, option]) => ({
    name,
    short: option.short,
    summary: option.summary,
    value: valueOf(option),
  }));
  const words = command.arguments?.[0]?.name.split("|") ?? [];
  const takesFile = words.some((word) => word === "file" || word === "folder");
  const group = path.slice(0, path.lastIndexOf(" "));
  const otherPaths = (command.aliases ?? []).map((alias) => `${group} ${alias}`);
  return { path, otherPaths, commands: [], options: [...options, HELP], takesFile };
}

function valueOf(option: Option): ValueKind {
  if (option.kind === "flag") return { kind: "none" };
  if (option.kind === "choice") return { kind: "choices", choices: option.choices };
  return option.value === "file" || option.value === "folder" ? { kind: option.value } : { kind: "anything" };
}

/** `--output`, `-o` */
export function spellings({ name, short }: OptionWord): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

/** Every `path --option` after which a value of the same kind stands, as one pattern of a shell's `case`. */
export interface ValueGroup {
  readonly value: ValueKind;
  readonly patterns: readonly string[];
}

export function valueGroups(places: readonly CommandNode[]): readonly ValueGroup[] {
  const groups = new Map<string, { value: ValueKind; patterns: string[] }>();
  for (const { path, options } of places) {
    for (const option of options.filter(({ value }) => value.kind !== "none")) {
      const key = JSON.stringify(option.value);
      const group = groups.get(key) ?? { value: option.value, patterns: [] };
      group.patterns.push(...spellings(option).map((word) => `${path} ${word}`));
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** Every path that has a word more than another one. */
export function pathsBelow(places: readonly CommandNode[]): readonly string[] {
  return places.map(({ path }) => path).filter((path) => path.includes(" "));
}

/** Where each other way to write a command leads. */
export function aliasesIn(places: readonly CommandNode[]): readonly CommandNode[] {
  return places.filter(({ otherPaths }) => otherPaths.length > 0);
}

/** In single quotes for bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
