import { environmentName, type Setting } from "@resource-broker/base";

export interface FlagsPage {
  readonly title: string;
  /** What there is to know beside the table; lines. */
  readonly about: readonly string[];
  readonly settings: Readonly<Record<string, Setting<unknown>>>;
  readonly environmentPrefix: string;
}

/** The reference page of a program's flags. */
export function flagsPage({ title, about, settings, environmentPrefix }: FlagsPage): string {
  const row = (name: string, setting: Setting<unknown>): string => {
    const value = setting.placeholder === "" ? "" : `=${setting.placeholder.replaceAll("|", "\\|")}`;
    const given = setting.defaultText === "" ? "" : `\`${setting.defaultText}\``;
    const variable = environmentName(name, environmentPrefix);
    return `| \`--${name}${value}\` | ${given} | \`${variable}\` | ${setting.description} |`;
  };
  return [
    `# ${title}`,
    "",
    "Each flag can also be set in the environment or by its name in the file of `--config`; a flag wins over the",
    "environment, the environment over the file. Durations are written as in Go (`90s`, `1h30m`), lists with commas.",
    ...about,
    "A test compares this table with the code.",
    "",
    "| Flag | Default | Environment | Meaning |",
    "|---|---|---|---|",
    ...Object.entries(settings).map(([name, setting]) => row(name, setting)),
    "",
  ].join("\n");
}
