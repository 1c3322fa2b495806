import type { Log } from "@resource-broker/base";

/** A log whose lines, `level message {fields}`, a test can read. */
export interface RecordedLog extends Log {
  readonly lines: string[];
}

export function recordedLog(lines: string[] = []): RecordedLog {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { lines, info: at("info"), warn: at("warn"), error: at("error") };
}
