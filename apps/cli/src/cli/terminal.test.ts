import { execFile } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../testing/cli.ts";
import { askOnTerminal, readInput } from "./terminal.ts";

test("nobody is asked where there is no terminal", async () => {
  expect(await askOnTerminal("Really? ", "/nowhere/tty")).toBeUndefined();
});

test("one line is the answer", async () => {
  const fifo = join(await temporaryFolder(onTestFinished), "terminal");
  await promisify(execFile)("mkfifo", [fifo]);
  // Opened for both, a FIFO hands the question back to whoever asked: it stands for what is typed.
  expect(await askOnTerminal("y\n", fifo)).toBe("y");
});

test("standard input is read to its end, but not without end", async () => {
  expect(await readInput(Readable.from([Buffer.from("a"), Buffer.from("é")]))).toBe("aé");
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(10_000);
    })(),
  );
  await expect(readInput(endless)).rejects.toThrow("longer than 64 KiB");
});
