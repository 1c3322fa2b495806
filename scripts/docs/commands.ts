import { posix } from "node:path";
import type { Command, Page } from "./markdown.ts";

/** What can be typed in this repository. */
export interface Known {
  readonly scripts: ReadonlySet<string>;
  readonly makeTargets: ReadonlySet<string>;
  /** Flags of the program that an npm script starts, without dashes; undefined: it takes whatever it likes. */
  readonly flagsOf: (script: string) => ReadonlySet<string> | undefined;
  /** `get clusters` → its flags. */
  readonly brokerctl: ReadonlyMap<string, ReadonlySet<string>>;
  readonly exists: (path: string) => boolean;
}

/** Files that a command reads from the repository. */
const OWN_PATH =
  /^(?:\.\/)?((?:apps|bin|deploy|docs|evaluation|packages|scripts|test|test-setup|tools)\/[\w./-]+)$/;
const FLAG = /^--?([a-zA-Z][a-z0-9-]*)/;
const LONGEST_COMMAND = 2;

/** One line for each command that would not work. */
export function staleCommands(pages: readonly Page[], known: Known): string[] {
  return pages.flatMap(({ path, commands }) => {
    // A package's own page may name its files as they are seen from there.
    const exists = (file: string): boolean =>
      known.exists(file) || known.exists(posix.join(posix.dirname(path), file));
    return commands.flatMap((command) =>
      problemsOf(command, { ...known, exists }).map((problem) => `${path}:${command.line}: ${problem}`),
    );
  });
}

function problemsOf({ text }: Command, known: Known): string[] {
  return simpleCommands(text).flatMap((words) => {
    const paths = words.filter((_, index) => isFile(words, index));
    return [...paths.flatMap((word) => missingPath(word, known)), ...programProblems(words, known)];
  });
}

function programProblems(words: readonly string[], known: Known): string[] {
  const [program = "", second = "", ...rest] = words;
  switch (program) {
    case "npm":
      return npmProblems(second, rest, known);
    case "make":
      return [second, ...rest]
        .filter((word) => /^[a-z][a-z-]*$/.test(word) && !isTarget(word, known.makeTargets))
        .map((word) => `the Makefile has no target ${word}`);
    case "brokerctl":
    case "bin/brokerctl":
    case "./bin/brokerctl":
      return brokerctlProblems([second, ...rest], known);
    case "kubectl":
      return second === "broker" ? brokerctlProblems(rest, known) : [];
    default:
      return [];
  }
}

/** A pattern such as `image-%` is known by what stands before the sign. */
function isTarget(word: string, targets: ReadonlySet<string>): boolean {
  return targets.has(word) || [...targets].some((target) => target.endsWith("-") && word.startsWith(target));
}

function npmProblems(verb: string, rest: readonly string[], known: Known): string[] {
  const script = verb === "run" ? rest[0] : ["start", "test"].find((name) => name === verb);
  // `npm run <script>` in prose, and npm's own commands.
  if (script === undefined || !/^[a-z][a-z:-]*$/.test(script)) return [];
  if (!known.scripts.has(script)) return [`there is no npm script ${script}`];
  const from = rest.indexOf("--");
  const passedOn = from === -1 ? [] : rest.slice(from + 1);
  if (script === "brokerctl") return brokerctlProblems(passedOn, known);
  return unknownFlags(passedOn, known.flagsOf(script)).map((flag) => `npm run ${script} has no flag ${flag}`);
}

function brokerctlProblems(words: readonly string[], known: Known): string[] {
  const [first = ""] = words;
  // Prose such as `brokerctl <command> --help`, and flags that stand alone.
  if (!/^[a-z]/.test(first) || words.includes("…") || first === "help") return [];
  const names = Array.from({ length: LONGEST_COMMAND }, (_, index) => words.slice(0, index + 1).join(" "));
  const name = names.findLast((each) => known.brokerctl.has(each));
  if (name === undefined) {
    const isGroup = [...known.brokerctl.keys()].some((each) => each.startsWith(`${first} `));
    return isGroup && words.length === 1
      ? []
      : [`brokerctl has no command ${words.slice(0, LONGEST_COMMAND).join(" ")}`];
  }
  return unknownFlags(words, known.brokerctl.get(name)).map(
    (flag) => `brokerctl ${name} has no flag ${flag}`,
  );
}

function unknownFlags(words: readonly string[], flags: ReadonlySet<string> | undefined): string[] {
  if (flags === undefined) return [];
  return words.flatMap((word) => {
    const [flag = "", name = "help"] = FLAG.exec(word) ?? [];
    return flags.has(name) || name === "help" || name === "version" ? [] : [flag];
  });
}

/** To kubectl `deploy/agent` is a Deployment, unless a flag before it says that it is a file. */
function isFile([program, ...words]: readonly string[], index: number): boolean {
  return program !== "kubectl" || ["-f", "-k", "--filename", "--kustomize"].includes(words[index - 2] ?? "");
}

function missingPath(word: string, { exists }: Known): string[] {
  const path = OWN_PATH.exec(word.replace(/^--?[a-z-]+=/, ""))?.[1];
  return path === undefined || exists(path) ? [] : [`there is no ${path}`];
}

/** What stands between `;`, `&&`, `||` and `|`, without comments, variables in front, and quotes. */
function simpleCommands(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  for (const [token] of text.matchAll(/"[^"]*"|'[^']*'|[^\s;&|]+|[;&|]+/g)) {
    if (token.startsWith("#")) break;
    if (/^[;&|]+$/.test(token)) {
      commands.push(words);
      words = [];
    } else if (words.length > 0 || !/^[A-Z_]+=/.test(token)) {
      words.push(token.replaceAll(/^["']|["']$/g, ""));
    }
  }
  return [...commands, words].filter((each) => each.length > 0);
}
