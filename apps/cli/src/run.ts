import { childOf, type Entry, isGroup } from "./cli/command.ts";
import { CommandError, EXIT_CODES, type Exit } from "./cli/exit-code.ts";
import { findCommand } from "./cli/find-command.ts";
import type { Host } from "./cli/host.ts";
import { ROOT } from "./commands.ts";
import { safeFor } from "./output/colour.ts";

/** Runs one command line and returns the exit code. Every expected problem ends here as readable lines. */
export async function run(args: readonly string[], outside: Host): Promise<number> {
  const safe = safeFor(outside);
  const host: Host = {
    ...outside,
    out: (text) => outside.out(safe(text)),
    note: (text) => outside.note(safe(text)),
  };
  try {
    const exit = await dispatch(args, host);
    return EXIT_CODES[exit].code;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    host.note(`brokerctl: ${error.message}\n`);
    if (error.exit === "usage") host.note(`Try: ${nearestCommand(args)} --help\n`);
    return EXIT_CODES[error.exit].code;
  }
}

async function dispatch(args: readonly string[], host: Host): Promise<Exit> {
  if (args[0] === "--version") return dispatch(["version"], host);
  if (args[0] === "help") return dispatch([...args.slice(1), "--help"], host);
  const { entry, path, rest } = await findCommand(ROOT, args);
  if (wantsHelp(rest)) {
    host.out(await helpOf(entry, path));
    return "ok";
  }
  if (!isGroup(entry)) {
    await entry.start(rest, host);
    return "ok";
  }
  const [option] = rest;
  if (option !== undefined) throw new CommandError("usage", `write the command first, then ${option}`);
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

/** The part of the command line that is right, so that the hint points at the nearest help. */
function nearestCommand(args: readonly string[]): string {
  let path = ROOT.name;
  let entry: Entry = ROOT;
  for (const arg of args) {
    const next: Entry | undefined = isGroup(entry) ? childOf(entry, arg) : undefined;
    if (next === undefined) break;
    path = `${path} ${next.name}`;
    entry = next;
  }
  return path;
}
