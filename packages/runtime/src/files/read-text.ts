import { readFile } from "node:fs";
import { promisify } from "node:util";

const read = promisify(readFile);

/** The text of a file. `node:fs/promises` could do it, but brings streams and readline along: 1 MB of an agent's 60. */
export function readText(path: string): Promise<string> {
  return read(path, "utf8");
}
