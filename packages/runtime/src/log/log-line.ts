import { safeJson } from "@resource-broker/contract";
import type { LogFields } from "./log.ts";

/** As numbers in lines for machines, so that they can be compared. */
export const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

export type Level = keyof typeof LEVELS;

export interface LogEntry {
  readonly level: Level;
  /** Wall clock, in milliseconds. */
  readonly time: number;
  readonly fields: LogFields;
  readonly message: string;
}

/** One line of JSON. A field that cannot be serialized must not lose the line or crash the program. */
export function jsonLine({ level, time, fields, message }: LogEntry): string {
  const start = { level: LEVELS[level], time };
  try {
    return safeJson(JSON.stringify({ ...start, ...fields, msg: message }, printable));
  } catch (error) {
    return safeJson(JSON.stringify({ ...start, unprintable: String(error), msg: message }));
  }
}

/** Makes errors and bigints serializable. */
export function printable(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...Object.fromEntries(Object.entries(value)), type: name, message, stack, cause };
}
