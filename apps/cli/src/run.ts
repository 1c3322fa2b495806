import {
  type CommandGroup,
  commandsBelow,
  type Entry,
  findEntry,
  type Host,
  isGroup,
} from "./cli/command.ts";
import { CommandError, didYouMean, EXIT_CODES, type Exit } from "./cli/exit-code.ts";
import { ROOT } from "./commands/commands.ts";
import { safeFor } from "./output/print.ts";

const FEW = 6;

/** Runs one command line and returns the exit code. Every expected problem ends here as readable lines. */
export async function run(args: readonly string[], outside: Host): Promise<number> {
  const safe = safeFor(outside);
  const host: Host = {
    ...outside,
    out: (text) => outside.out(safe(text)),
    note: (text) => outside.note(safe(text)),
    ...(outside.onInterrupt === undefined ? {} : { onInterrupt: safeWords(outside.onInterrupt, safe) }),
  };
  try {
    return EXIT_CODES[await dispatch(args, host)].code;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    host.note(`brokerctl: ${error.message}\n`);
    if (error.exit === "usage") host.note(`Try: ${findEntry(ROOT, args).path} --help\n`);
    return EXIT_CODES[error.exit].code;
  }
}

function safeWords(
  onInterrupt: NonNullable<Host["onInterrupt"]>,
  safe: (text: string) => string,
): NonNullable<Host["onInterrupt"]> {
  return (words) => onInterrupt(() => safe(words()));
}

async function dispatch(args: readonly string[], host: Host): Promise<Exit> {
  const [first, ...others] = args;
  if (first === "--version") return dispatch(["version"], host);
  if (first === "help") return dispatch([...others, "--help"], host);
  if (first === "__complete") {
    const { complete } = await import("./cli/complete.ts");
    host.out(complete(ROOT, others));
    return "ok";
  }
  const { entry, path, rest } = findEntry(ROOT, args);
  const [word] = rest;
  if (isGroup(entry) && word !== undefined && !word.startsWith("-")) throw unknownCommand(entry, path, word);
  if (wantsHelp(rest)) {
    host.out(await helpOf(entry, path));
    return "ok";
  }
  if (!isGroup(entry)) {
    await entry.start(rest, host);
    return "ok";
  }
  if (word !== undefined) throw new CommandError("usage", `write the command first, then ${word}`);
  host.note(await helpOf(entry, path));
  return "usage";
}

async function helpOf(entry: Entry, path: string): Promise<string> {
  const { help } = await import("./cli/help.ts");
  return help(entry, path);
}

function wantsHelp(rest: readonly string[]): boolean {
  const end = rest.indexOf("--");
  return rest.slice(0, end === -1 ? rest.length : end).some((word) => word === "--help" || word === "-h");
}

function unknownCommand(group: CommandGroup, path: string, word: string): CommandError {
  // "brokerctl issue" is in the wrong place, not misspelt.
  const elsewhere = commandsBelow(ROOT, [ROOT.name]).find(({ command }) => command.name === word);
  const names = group.commands.map(({ name }) => name);
  const near = didYouMean(word, names);
  const few = names.length <= FEW ? `; write one of ${names.join(", ")}` : "";
  const hint = elsewhere === undefined ? near || few : `; did you mean ${elsewhere.words.join(" ")}?`;
  return new CommandError("usage", `there is no command "${path} ${word}"${hint}`);
}
