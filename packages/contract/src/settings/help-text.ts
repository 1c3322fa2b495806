import { environmentName } from "./parse-settings.ts";
import type { Setting, SettingsTable } from "./settings.ts";

export interface HelpOptions {
  readonly usage: string;
  readonly summary: string;
  readonly envPrefix: string;
}

const INDENT = 6;
const WIDTH = 100;

/** Help that a person can read: every flag with its meaning, default and environment variable. */
export function helpText(table: SettingsTable, { usage, summary, envPrefix }: HelpOptions): string {
  const entries = Object.entries(table).map(([name, setting]) => entryOf(name, setting, envPrefix));
  const sources = `Each flag can also be set in the environment or in the file named by --config; a flag wins over the\nenvironment, the environment over the file.`;
  return [`Usage: ${usage}`, "", summary, "", sources, "", "Flags:", ...entries].join("\n");
}

function entryOf(name: string, setting: Setting<unknown>, envPrefix: string): string {
  const value = setting.placeholder === "" ? "" : `=${setting.placeholder}`;
  const given = setting.defaultText === "" ? "" : ` Default: ${setting.defaultText}.`;
  const lines = wrap(`${setting.description}${given} (${environmentName(name, envPrefix)})`, WIDTH - INDENT);
  return [`  --${name}${value}`, ...lines.map((line) => " ".repeat(INDENT) + line)].join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
