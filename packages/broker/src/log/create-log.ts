import { pino } from "pino";
import type { Log } from "../interface/http/log.ts";
import { prettyLines } from "./pretty-lines.ts";

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly format: "json" | "pretty";
  readonly useColours: boolean;
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
