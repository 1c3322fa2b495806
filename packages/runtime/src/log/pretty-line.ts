import { safeJson, safeLine } from "@resource-broker/contract";
import { type Level, type LogEntry, printable } from "./log-line.ts";

const COLOURS: Readonly<Record<Level, string>> = {
  debug: "\x1b[90m",
  info: "\x1b[32m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
};
const RESET = "\x1b[0m";
const WIDEST_LEVEL = 5;

/** A line for people: time, level, message, and the fields behind them. */
export function prettyLine({ level, time, fields, message }: LogEntry, useColours: boolean): string {
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
