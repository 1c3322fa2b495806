import { formatTime } from "@resource-broker/base";
import type { EventUpdate } from "./update.ts";

const WARN = 40;
const ERROR = 50;
const READY_MESSAGE = "the agent is running";
/** What an agent says of itself that is worth a line; its doings are in the audit log. */
const SHOWN_MESSAGES = new Set([READY_MESSAGE, "a broker is available again"]);

interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  /** What went wrong, where something did. */
  readonly error?: unknown;
}

/** True for the line with which an agent says that it is ready. */
export function isReadyLine(text: string): boolean {
  return readLine(text)?.msg === READY_MESSAGE;
}

/** The update for a line of a program's log; undefined: it is not worth showing. */
export function logEvent(source: string, text: string): EventUpdate | undefined {
  const found = readLine(text);
  if (found === undefined) return undefined;
  const { level, time, msg, error } = found;
  if (level < WARN && !SHOWN_MESSAGES.has(msg)) return undefined;
  return {
    at: formatTime(time),
    source,
    level: levelOf(level),
    text: typeof error === "string" ? `${msg}: ${error}` : msg,
  };
}

function levelOf(level: number): EventUpdate["level"] {
  if (level >= ERROR) return "error";
  return level >= WARN ? "warn" : "info";
}

/** Undefined for what is no line of ours: a stack trace, half a line. */
function readLine(text: string): LogLine | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isLogLine(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isLogLine(value: unknown): value is LogLine {
  if (typeof value !== "object" || value === null) return false;
  const { level, time, msg } = value as Partial<Record<keyof LogLine, unknown>>;
  return typeof level === "number" && typeof time === "number" && typeof msg === "string";
}
