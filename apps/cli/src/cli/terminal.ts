import { open } from "node:fs/promises";
import { safeText } from "@resource-broker/base";
import { CommandError } from "./exit-code.ts";

const TERMINAL = "/dev/tty";
const MAX_ANSWER_BYTES = 1024;
/** More than any file that is piped into brokerctl. */
const MAX_INPUT_BYTES = 64 * 1024;

/** Asks the person at the terminal, whatever standard input is; undefined: there is no terminal. */
export async function askOnTerminal(question: string, path = TERMINAL): Promise<string | undefined> {
  const terminal = await open(path, "r+").catch(() => undefined);
  if (terminal === undefined) return undefined;
  try {
    await terminal.write(safeText(question));
    // A terminal hands over one line at a time.
    const { bytesRead, buffer } = await terminal.read(Buffer.alloc(MAX_ANSWER_BYTES), 0, MAX_ANSWER_BYTES);
    return buffer.toString("utf8", 0, bytesRead).trim();
  } finally {
    await terminal.close();
  }
}

/** Everything that comes, up to a limit. */
export async function readInput(stream: AsyncIterable<unknown>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    if (!(part instanceof Uint8Array)) throw new Error("standard input must be read as bytes");
    bytes += part.length;
    if (bytes > MAX_INPUT_BYTES)
      throw new CommandError("usage", `standard input is longer than ${MAX_INPUT_BYTES / 1024} KiB`);
    parts.push(Buffer.from(part));
  }
  return Buffer.concat(parts).toString("utf8");
}
