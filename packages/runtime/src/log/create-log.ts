import { type Log, type LogFields, safeJson, safeLine } from "@resource-broker/base";

/** As numbers in lines for machines, so that they can be compared. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

type Level = keyof typeof LEVELS;

interface LogEntry {
  readonly level: Level;
  /** Wall clock, in milliseconds. */
  readonly time: number;
  readonly fields: LogFields;
  readonly message: string;
}

const COLOURS: Readonly<Record<Level, string>> = {
  debug: "\x1b[90m",
  info: "\x1b[32m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
};
const RESET = "\x1b[0m";
const WIDEST_LEVEL = 5;

/** What a person can ask for. */
export interface LogSettings {
  readonly "log-level": LogOptions["level"];
  readonly "log-format": LogOptions["format"] | "auto";
}

export interface LogOptions {
  readonly level: Level;
  readonly format: "json" | "pretty";
  readonly useColours: boolean;
}

/** `auto` is for people on a terminal and for machines elsewhere. */
export function logOptions(
  settings: LogSettings,
  { isTerminal, noColour }: { readonly isTerminal: boolean; readonly noColour: boolean },
): LogOptions {
  const format =
    settings["log-format"] === "auto" ? (isTerminal ? "pretty" : "json") : settings["log-format"];
  return { level: settings["log-level"], format, useColours: isTerminal && !noColour };
}

/** Lines on a stream, from the asked level up. */
export function createLog(
  { level: lowest, format, useColours }: LogOptions,
  out: Pick<NodeJS.WritableStream, "write">,
): Log {
  const at =
    (level: Level): Log["info"] =>
    (fields, message) => {
      if (LEVELS[level] < LEVELS[lowest]) return;
      // oxlint-disable-next-line no-restricted-properties -- a line says when it was written; nobody decides by it
      const entry = { level, time: Date.now(), fields, message };
      out.write(`${format === "pretty" ? prettyLine(entry, useColours) : jsonLine(entry)}\n`);
    };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** One line of JSON. A field that cannot be serialized must not lose the line or crash the program. */
function jsonLine({ level, time, fields, message }: LogEntry): string {
  const start = { level: LEVELS[level], time };
  try {
    return safeJson(JSON.stringify({ ...start, ...fields, msg: message }, printable));
  } catch (error) {
    return safeJson(JSON.stringify({ ...start, unprintable: String(error), msg: message }));
  }
}

/** Makes errors and bigints serializable. */
function printable(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...Object.fromEntries(Object.entries(value)), type: name, message, stack, cause };
}

/** A line for people: time, level, message, and the fields behind them. */
function prettyLine({ level, time, fields, message }: LogEntry, useColours: boolean): string {
  const name = level.toUpperCase().padEnd(WIDEST_LEVEL);
  const shown = useColours ? `${COLOURS[level]}${name}${RESET}` : name;
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === "string" ? safeLine(value) : asText(value)}`);
  return [new Date(time).toISOString().slice(11, 23), shown, safeLine(message), ...rest].join(" ");
}

function asText(value: unknown): string {
  try {
    return safeJson(JSON.stringify(value, printable) ?? String(value));
  } catch {
    return safeLine(String(value));
  }
}
