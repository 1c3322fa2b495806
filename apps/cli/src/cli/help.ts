import { type Command, type CommandGroup, type Entry, isGroup, type Option } from "./command.ts";
import { EXIT_CODES } from "./exit-code.ts";

/** Fits every terminal that people read help on. */
const WIDTH = 100;
const HELP_OPTION = ["-h, --help", "this text"] as const;

/** The help of a command or a group, made from the table alone. */
export function help(entry: Entry, path: string): string {
  const parts = isGroup(entry) ? groupHelp(entry, path) : commandHelp(entry, path);
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function groupHelp(group: CommandGroup, path: string): string[] {
  const isRoot = !path.includes(" ");
  return [
    `${group.summary}.`,
    `Usage: ${path} <command> [options]`,
    group.details ?? "",
    section(
      "Commands",
      group.commands.map(({ name, summary }) => [name, summary]),
    ),
    isRoot ? section("Exit status", exitRows()) : "",
    `"${path} <command> --help" says more about one command.`,
  ];
}

function commandHelp(command: Command, path: string): string[] {
  const words = (command.arguments ?? []).map(({ name, optional }) =>
    optional === true ? `[${name}]` : `<${name}>`,
  );
  return [
    `${command.summary}.`,
    `Usage: ${[path, ...words, "[options]"].join(" ")}`,
    command.aliases === undefined ? "" : `Also called: ${command.aliases.join(", ")}`,
    command.details ?? "",
    section(
      "Arguments",
      (command.arguments ?? []).map(({ name, summary }) => [name, summary]),
    ),
    section("Options", [...Object.entries(command.options).map(optionRow), HELP_OPTION]),
    section(
      "Examples",
      (command.examples ?? []).map((example) => [example]),
    ),
  ];
}

function optionRow([name, option]: readonly [string, Option]): readonly string[] {
  const short = option.short === undefined ? "    " : `-${option.short}, `;
  const value = option.kind === "flag" ? "" : ` <${option.value}>`;
  const choices = option.kind === "choice" ? `: ${option.choices.join(", ")}` : "";
  const notes = [defaultText(option), option.env === undefined ? "" : `or $${option.env}`].filter(
    (note) => note !== "",
  );
  const remark = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
  return [`${short}--${name}${value}`, `${option.summary}${choices}${remark}`];
}

function defaultText(option: Option): string {
  if (option.kind === "list") return option.defaultText === undefined ? "" : `default ${option.defaultText}`;
  return "default" in option && option.default !== undefined ? `default ${option.default}` : "";
}

function exitRows(): string[][] {
  return Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning]);
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(([left = ""]) => left.length));
  const lines = rows.flatMap(([left = "", right = ""]) => {
    const [first = "", ...more] = wrapped(right, WIDTH - width - 4);
    return [
      `  ${left.padEnd(width)}  ${first}`.trimEnd(),
      ...more.map((line) => " ".repeat(width + 4) + line),
    ];
  });
  return [`${title}:`, ...lines].join("\n");
}

/** Breaks a text between words into lines of at most `width` letters. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
