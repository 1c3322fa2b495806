import { type CommandGroup, commandsBelow, type ListedCommand, type Option } from "../src/cli/command.ts";
import { EXIT_CODES } from "../src/cli/exit-code.ts";
import { schemaFileOf } from "./output-schemas.ts";

/** Every command with its arguments and options, as Markdown; made from the table alone. */
export function commandsPage(root: CommandGroup): string {
  const commands = commandsBelow(root);
  return `${[
    "# Every command of brokerctl",
    "Made from the command table; `npx vitest run apps/cli/reference -u` makes it again. How to use them: [cli.md](../../cli.md).",
    index(commands),
    "## Exit status",
    table(
      ["Status", "Means"],
      Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning]),
    ),
    ...commands.map(section),
  ].join("\n\n")}\n`;
}

function index(commands: readonly ListedCommand[]): string {
  const rows = commands.map(({ words, command }) => [
    `[\`${words.join(" ")}\`](#${words.join("-")})`,
    command.summary,
  ]);
  return table(["Command", "What it does"], rows);
}

function section({ words, command }: ListedCommand): string {
  const path = words.join(" ");
  const names = (command.arguments ?? []).map(({ name, optional }) =>
    optional === true ? `[${name}]` : `<${name}>`,
  );
  const options = Object.entries(command.options);
  const parts = [
    `## ${path}`,
    `${command.summary}.`,
    fenced([["brokerctl", ...words, ...names, "[options]"].join(" ")]),
    command.aliases === undefined ? "" : `Also called: ${command.aliases.map(code).join(", ")}.`,
    command.details === undefined ? "" : fenced(command.details.split("\n"), "text"),
    (command.arguments ?? []).length === 0
      ? ""
      : table(
          ["Argument", "Is"],
          (command.arguments ?? []).map(({ name, summary }) => [code(name), summary]),
        ),
    options.length === 0 ? "" : table(["Option", "For", "Default", "Environment"], options.map(optionRow)),
    command.examples === undefined ? "" : fenced(command.examples),
    "output" in command.options ? `\`-o json\` prints [this](${schemaFileOf(path)}).` : "",
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function optionRow([name, option]: readonly [string, Option]): readonly string[] {
  const value = option.kind === "flag" ? "" : ` <${option.value}>`;
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const choices = option.kind === "choice" ? `: ${option.choices.join(", ")}` : "";
  const fallback = "default" in option && option.default !== undefined ? code(String(option.default)) : "";
  const environment = option.env === undefined ? "" : code(option.env);
  return [code(`${short}--${name}${value}`), `${option.summary}${choices}`, fallback, environment];
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, titles.map(() => "---"), ...rows.map((row) => row.map(escaped))];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function escaped(cell: string): string {
  return cell.replaceAll("|", String.raw`\|`);
}

function code(words: string): string {
  return `\`${words}\``;
}

function fenced(lines: readonly string[], language = "sh"): string {
  return ["```" + language, ...lines, "```"].join("\n");
}
