import {
  choice,
  isRecord,
  parseSettings,
  type SettingsTable,
  text,
  toggle,
  type Values,
} from "@resource-broker/base";

/** Flags that every program of ours has. */
export const PROGRAM_SETTINGS = {
  "log-format": choice({
    description: "json for machines, pretty for people; auto is pretty on a terminal.",
    defaultValue: "auto",
    choices: ["auto", "json", "pretty"],
  }),
  "log-level": choice({
    description: "The least important lines that are written.",
    defaultValue: "info",
    choices: ["debug", "info", "warn", "error"],
  }),
  config: text({
    description: "File with settings by flag name (YAML or JSON).",
    defaultValue: "",
    placeholder: "FILE",
  }),
  help: toggle({ description: "Print this text.", defaultValue: false }),
  version: toggle({ description: "Print the version.", defaultValue: false }),
};

/** Flags of the Go programs that mean nothing here; scripts that pass them continue to work. */
export const IGNORED_GO_FLAGS = ["webhook-cert-*", "enable-http2", "zap-*"];

/** The settings of one program. */
export interface SettingsSpec<Table extends SettingsTable> {
  readonly table: Table;
  /** `BROKER_` makes `--http-port` BROKER_HTTP_PORT. */
  readonly envPrefix: string;
  /** Flags that are taken and ignored. */
  readonly ignored: readonly string[];
  /** Cross-field validation. */
  readonly crossFieldProblems: (settings: Values<Table>) => readonly string[];
}

export interface SettingsInput {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a YAML or JSON file; throws with a message that names it. */
  readonly readFile: (path: string) => Promise<unknown>;
}

export type SettingsOutcome<Settings> =
  | { readonly ok: true; readonly settings: Settings; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads flags, environment and the config file. */
export async function readSettings<Table extends SettingsTable & typeof PROGRAM_SETTINGS>(
  { table, envPrefix, ignored, crossFieldProblems }: SettingsSpec<Table>,
  { argv, env, readFile }: SettingsInput,
): Promise<SettingsOutcome<Values<Table>>> {
  const sources = { argv, env, envPrefix, ignored };
  const first = parseSettings(table, sources);
  if (!first.ok) return first;
  // A generic table's values have no types that can be read here; its constraint says that these three are there.
  const values: Readonly<Record<string, unknown>> = first.values;
  const isHelpOrVersion = values["help"] === true || values["version"] === true;
  const path = values["config"];
  const hasFile = typeof path === "string" && path !== "";
  const result = hasFile && !isHelpOrVersion ? await withFile(path) : first;
  if (!result.ok) return result;
  const problems = isHelpOrVersion ? [] : crossFieldProblems(result.values);
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, settings: result.values, warnings: result.warnings };

  async function withFile(path: string) {
    const file = await readFile(path).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    if (file instanceof Error) return { ok: false, problems: [`--config: ${file.message}`] } as const;
    if (!isRecord(file))
      return { ok: false, problems: [`--config: ${path} must hold settings by name`] } as const;
    return parseSettings(table, { ...sources, file });
  }
}
