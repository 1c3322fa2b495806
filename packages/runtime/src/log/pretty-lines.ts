import { Writable } from "node:stream";

const LEVELS: Readonly<Record<number, string>> = { 20: "DEBUG", 30: "INFO ", 40: "WARN ", 50: "ERROR" };
const COLOURS: Readonly<Record<number, string>> = {
  20: "\x1b[90m",
  30: "\x1b[32m",
  40: "\x1b[33m",
  50: "\x1b[31m",
};
const RESET = "\x1b[0m";
const HIDDEN = new Set(["level", "time", "msg", "pid", "hostname"]);

/** Turns log lines for machines into lines for people. */
export function prettyLines(out: NodeJS.WritableStream, useColours: boolean): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const lines = chunk.toString("utf8").trimEnd().split("\n");
      out.write(lines.map((line) => `${pretty(line, useColours)}\n`).join(""), () => done());
    },
  });
}

function pretty(line: string, useColours: boolean): string {
  const fields: unknown = JSON.parse(line);
  if (typeof fields !== "object" || fields === null) return line;
  const entries = new Map(Object.entries(fields));
  const level = Number(entries.get("level"));
  const name = LEVELS[level] ?? "     ";
  const shown = useColours ? `${COLOURS[level] ?? ""}${name}${RESET}` : name;
  const rest = [...entries]
    .filter(([key]) => !HIDDEN.has(key))
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const time = new Date(Number(entries.get("time"))).toISOString().slice(11, 23);
  return [time, shown, String(entries.get("msg") ?? ""), ...rest].join(" ");
}
