import { type Command, type CommandGroup, childOf, type Entry, isGroup } from "./command.ts";
import { didYouMean } from "./did-you-mean.ts";
import { CommandError } from "./exit-code.ts";

const FEW = 6;

export interface Found {
  readonly entry: Entry;
  /** `brokerctl certs issue` */
  readonly path: string;
  /** What stands after the command's name. */
  readonly rest: readonly string[];
}

/** Walks down the table along the first words of the command line. */
export async function findCommand(root: CommandGroup, args: readonly string[]): Promise<Found> {
  let entry: Entry = root;
  let path = root.name;
  let rest = args;
  while (isGroup(entry)) {
    const [word] = rest;
    if (word === undefined || word.startsWith("-")) break;
    const next: Entry | undefined = childOf(entry, word);
    if (next === undefined) throw await unknownCommand({ word, group: entry, path, root });
    entry = next;
    path = `${path} ${next.name}`;
    rest = rest.slice(1);
  }
  return { entry, path, rest };
}

interface Unknown {
  readonly word: string;
  readonly group: CommandGroup;
  readonly path: string;
  readonly root: CommandGroup;
}

async function unknownCommand({ word, group, path, root }: Unknown): Promise<CommandError> {
  // "brokerctl issue" is in the wrong place, not misspelt.
  const elsewhere = allCommands(root, root.name).find(({ command }) => command.name === word);
  const hint =
    elsewhere === undefined
      ? await nearest(
          word,
          group.commands.map(({ name }) => name),
        )
      : `; did you mean ${elsewhere.path}?`;
  return new CommandError("usage", `there is no command "${path} ${word}"${hint}`);
}

/** The closest known word; if none is close, the list of known words when it is short. */
async function nearest(word: string, known: readonly string[]): Promise<string> {
  const hint = await didYouMean(word, known);
  return hint === "" && known.length <= FEW ? `; write one of ${known.join(", ")}` : hint;
}

function allCommands(group: CommandGroup, path: string): { command: Command; path: string }[] {
  return group.commands.flatMap((entry) => {
    const below = `${path} ${entry.name}`;
    return isGroup(entry) ? allCommands(entry, below) : [{ command: entry, path: below }];
  });
}
