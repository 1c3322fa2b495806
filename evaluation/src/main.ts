/** `npm run evaluate`: see `--help`. */
import { join, relative, resolve } from "node:path";
import { Fault } from "@resource-broker/base";
import { evaluate } from "./frame/evaluate.ts";
import { readFlags, USAGE } from "./frame/flags.ts";
import { runFolder } from "./frame/run-folder.ts";
import { summaryOf } from "./frame/write-report.ts";
import { TESTS } from "./tests/index.ts";

const root = join(import.meta.dirname, "../..");
const reading = readFlags(
  process.argv.slice(2),
  TESTS.map(({ id }) => id),
);
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(130);
    console.error("\nEnding what was started; once more to end at once");
    stopping.abort(new Error("stopped"));
  });
}

switch (reading.kind) {
  case "help":
    console.log(USAGE);
    break;
  case "wrong":
    end(2, `${reading.problem}; --help shows how`);
    break;
  case "summary": {
    const link = relative(root, resolve(reading.folder, "report.md"));
    try {
      process.stdout.write(summaryOf(runFolder(resolve(reading.folder)), TESTS, link));
    } catch (error) {
      explain(error);
    }
    break;
  }
  case "run":
    if (process.platform !== "linux") end(2, "it reads /proc, which only Linux has");
    await evaluate(reading.flags, {
      root,
      tests: TESTS,
      screen: process.stderr,
      print: (text) => console.log(text),
      signal: stopping.signal,
      now: () => new Date().toISOString(),
    }).then((code) => process.exit(code), explain);
}

function explain(error: unknown): never {
  if (stopping.signal.aborted) end(130, "stopped; --resume goes on where it was");
  if (error instanceof Fault) end(2, error.message);
  throw error;
}

function end(code: number, problem: string): never {
  console.error(`evaluate: ${problem}`);
  process.exit(code);
}
