import type { Log } from "@resource-broker/base";

/** A log whose lines, `level message`, a test can read. */
export interface RecordedLog extends Log {
  readonly lines: string[];
}

export function recordedLog(): RecordedLog {
  const lines: string[] = [];
  return {
    lines,
    info: (_, message) => lines.push(`info ${message}`),
    warn: (_, message) => lines.push(`warn ${message}`),
    error: (_, message) => lines.push(`error ${message}`),
  };
}
