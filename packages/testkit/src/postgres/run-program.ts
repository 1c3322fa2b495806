import { execFile } from "node:child_process";

const MOST_OUTPUT_BYTES = 64 * 2 ** 20;

/** Runs a program to its end and returns what it printed. */
export function runProgram([program = "", ...flags]: readonly string[], input = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, flags, { maxBuffer: MOST_OUTPUT_BYTES }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error(error.message, { cause: error }));
    });
    // It may end without reading it.
    child.stdin?.on("error", () => undefined).end(input);
  });
}
