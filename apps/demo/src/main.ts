import { randomBytes } from "node:crypto";
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { Fault, safeText } from "@resource-broker/base";
import { describeFailure, EXIT, runUntilSignal, systemClock } from "@resource-broker/runtime";
import { otherMode } from "./modes.ts";
import { type DemoOptions, HELP, readOptions } from "./options.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A closed pipe (npm start | head) is no fault of ours.
  process.exit(error.code === "EPIPE" ? 0 : EXIT.failure);
});

const reading = readOptions(process.argv.slice(2));
const mode = otherMode(process.argv.slice(2));
if (mode !== undefined) await mode({ hostProcess: process, clock: systemClock(Date.now), randomBytes, end });
else if (!reading.ok) end(EXIT.usage, ...reading.problems, "all flags: npm start -- --help");
else if (reading.options.help) console.log(HELP);
else await run(reading.options);

async function run(options: DemoOptions): Promise<void> {
  // The next start trusts the kept files: no other user may write them, whatever the umask.
  if (options.keep !== "") process.umask(0o077);
  enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/compiled", import.meta.url)));
  // Loaded late: the help does not need these modules.
  const [{ createDemo }, { createReporter }] = await Promise.all([
    import("./demo.ts"),
    import("./report.ts"),
  ]);
  const clock = systemClock(Date.now);
  const reporter = createReporter({ json: options.json, output: process.stdout, env: process.env });
  // An uncaught error is not printed behind the status line.
  process.on("uncaughtExceptionMonitor", reporter.stop);
  const demo = createDemo(options, { clock, randomBytes, searchPath: process.env["PATH"] ?? "", reporter });
  await runUntilSignal(demo, {
    signals: { on: (signal, stop) => [signal, "SIGHUP"].map((each) => process.on(each, stop)) },
    unrefTimeout: (delayMs, action) => setTimeout(action, delayMs).unref(),
    exit: (code, problem) => {
      reporter.stop();
      end(code, problem);
    },
    exitCodeOf: (error) => (error instanceof Fault && error.code === "invalid" ? EXIT.usage : EXIT.failure),
    describe: (error) => describeFailure(error, []),
  });
}

function end(code: number, ...problems: readonly string[]): never {
  for (const problem of problems) console.error(safeText(`npm start: ${problem}`));
  process.exit(code);
}
