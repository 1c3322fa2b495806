import { closest } from "../text/closest.ts";
import type { Setting, SettingsTable, Values } from "./settings.ts";

export interface SettingSources {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prefix of the environment variables: `BROKER_` makes `--http-port` BROKER_HTTP_PORT. */
  readonly envPrefix: string;
  /** Settings by flag name, from a file that was read already. */
  readonly file?: Readonly<Record<string, unknown>>;
  /** Flags of earlier programs that are taken and ignored; a trailing `*` stands for the rest of the name. */
  readonly ignored?: readonly string[];
}

export type SettingsResult<Table extends SettingsTable> =
  | { readonly ok: true; readonly values: Values<Table>; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** One flag of the command line; a switch may have no value. */
interface Argument {
  readonly name: string;
  readonly text: string | undefined;
}

/** Precedence: flag, environment, file, default. Reports all problems together. */
export function parseSettings<Table extends SettingsTable>(
  table: Table,
  sources: SettingSources,
): SettingsResult<Table> {
  const { flags, problems, warnings } = readArguments(table, sources);
  problems.push(...unknownInFile(table, sources.file ?? {}));
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    const given = flags.get(name) ?? fromEnvironment(name, sources) ?? fromFile(name, sources.file);
    if (given === undefined) {
      values[name] = setting.defaultValue;
      continue;
    }
    const reading = setting.read(given.text);
    if (reading.ok) values[name] = reading.value;
    else problems.push(`${given.where}: ${reading.problem}`);
  }
  if (problems.length > 0) return { ok: false, problems };
  // The loop above has filled in every name of the table with a value of its setting.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop above filled in every name
  return { ok: true, values: values as Values<Table>, warnings };
}

export function environmentName(name: string, prefix: string): string {
  return prefix + name.toUpperCase().replaceAll("-", "_");
}

interface Given {
  readonly text: string;
  readonly where: string;
}

function readArguments(table: SettingsTable, sources: SettingSources) {
  const flags = new Map<string, Given>();
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const { name, text } of argumentsOf(table, sources.argv)) {
    const setting = Object.hasOwn(table, name) ? table[name] : undefined;
    if (setting === undefined) {
      if (isIgnored(name, sources.ignored ?? [])) warnings.push(`--${name} has no effect and is ignored`);
      else problems.push(unknownFlag(name, table));
    } else if (text === undefined && setting.kind !== "switch") {
      problems.push(`--${name} needs a value: --${name}=${setting.placeholder}`);
    } else {
      flags.set(name, { text: text ?? "", where: `--${name}` });
    }
  }
  return { flags, problems, warnings };
}

/** Reads `--name=value`, `--name value` and `--switch`; one dash does as well, as in Go. */
function argumentsOf(table: SettingsTable, argv: readonly string[]): Argument[] {
  const found: Argument[] = [];
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, name, text] = /^--?([A-Za-z0-9][A-Za-z0-9._-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) found.push({ name: word, text });
    else if (text === undefined && takesNextWord(table, name, words[0]))
      found.push({ name, text: words.shift() });
    else found.push({ name, text });
  }
  return found;
}

function takesNextWord(table: SettingsTable, name: string, next: string | undefined): boolean {
  const isSwitch = Object.hasOwn(table, name) && table[name]?.kind === "switch";
  return !isSwitch && next?.startsWith("-") === false;
}

function unknownFlag(name: string, table: SettingsTable): string {
  const meant = meantBy(name, Object.keys(table));
  const hint = meant === undefined ? "see --help" : `did you mean --${meant}?`;
  return `unknown argument ${JSON.stringify(name)}: ${hint}`;
}

/** The nearest name; or the only one whose last word is near, as `--http-port` is for `--port`. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  const endings = known.filter(
    (each) => closest(name, [each.slice(each.lastIndexOf("-") + 1)]) !== undefined,
  );
  return closest(name, known) ?? (endings.length === 1 ? endings[0] : undefined);
}

function isIgnored(name: string, ignored: readonly string[]): boolean {
  return ignored.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
}

function fromEnvironment(name: string, { env, envPrefix }: SettingSources): Given | undefined {
  const variable = environmentName(name, envPrefix);
  const text = env[variable];
  // Kubernetes puts tcp://… under such names for Services that happen to be called so.
  const isGiven = text !== undefined && text !== "" && !text.startsWith("tcp://");
  return isGiven ? { text, where: variable } : undefined;
}

function fromFile(name: string, file: SettingSources["file"]): Given | undefined {
  if (file === undefined || !Object.hasOwn(file, name)) return undefined;
  const value = file[name];
  if (value === undefined || value === null) return undefined;
  const text = Array.isArray(value)
    ? value.join(",")
    : isScalar(value)
      ? String(value)
      : JSON.stringify(value);
  return { text, where: `${name} in the configuration file` };
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function unknownInFile(table: SettingsTable, file: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(file)
    .filter((name) => !Object.hasOwn(table, name))
    .map((name) => {
      const meant = closest(name, Object.keys(table));
      return `unknown setting ${name} in the configuration file${meant === undefined ? "" : `: did you mean ${meant}?`}`;
    });
}

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
