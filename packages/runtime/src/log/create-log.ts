import { pino } from "pino";
import type { Log } from "./log.ts";
import { prettyLines } from "./pretty-lines.ts";

/** What a person can ask for. */
export interface LogSettings {
  readonly "log-level": LogOptions["level"];
  readonly "log-format": LogOptions["format"] | "auto";
}

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
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

export function createLog({ level, format, useColours }: LogOptions, out: NodeJS.WritableStream): Log {
  const stream = format === "pretty" ? prettyLines(out, useColours) : out;
  const logger = pino({ level, base: null }, stream);
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
