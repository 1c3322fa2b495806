import type { Log } from "./log.ts";
import { jsonLine, type Level, LEVELS } from "./log-line.ts";
import { prettyLine } from "./pretty-line.ts";

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
