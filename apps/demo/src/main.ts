import { randomBytes } from "node:crypto";
import { Fault, parseSettings, text, toggle } from "@resource-broker/contract";
import { describeFailure, EXIT, nodeMachineTime, runUntilSignal } from "@resource-broker/runtime";
import type { DemoOptions } from "./demo.ts";

const HELP = `Usage: npm start [-- --dir=DIR]

Runs a broker, four simulated clusters and their agents on this machine, and prints commands that
show a reservation travel the whole way. Ctrl-C ends everything.

  --dir=DIR  folder for all files, which stay there; it must be empty
             (default: a temporary folder, which is removed at the end)
  --help     this text`;

const SETTINGS = {
  dir: text({ description: "Folder for all files.", defaultValue: "", placeholder: "DIR" }),
  help: toggle({ description: "Print the help.", defaultValue: false }),
};

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A closed pipe (npm start | head) is no fault of ours.
  process.exit(error.code === "EPIPE" ? 0 : EXIT.failure);
});

const reading = parseSettings(SETTINGS, { argv: process.argv.slice(2), env: {}, envPrefix: "" });
if (!reading.ok) end(EXIT.usage, ...reading.problems, "npm start -- --help shows what there is");
else if (reading.values.help) console.log(HELP);
else await run(reading.values);

async function run(options: DemoOptions): Promise<void> {
  // Only now: what a whole world needs is more than what a line of help needs.
  const { createDemo } = await import("./demo.ts");
  const demo = createDemo(options, {
    machine: nodeMachineTime(Date.now),
    randomBytes,
    searchPath: process.env["PATH"] ?? "",
    say: (line) => console.log(line),
  });
  await runUntilSignal(demo, {
    signals: process,
    lastly: (delayMs, action) => setTimeout(action, delayMs).unref(),
    end,
    exitCodeOf: (error) => (error instanceof Fault && error.code === "invalid" ? EXIT.usage : EXIT.failure),
    describe: (error) => describeFailure(error, []),
  });
}

function end(code: number, ...problems: readonly string[]): never {
  console.error(problems.map((problem) => `npm start: ${problem}`).join("\n"));
  process.exit(code);
}
