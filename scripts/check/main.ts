/** `npm run check`: all steps; `npm run check -- lint types`: only these; `--skip=tests`: all but this one. */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { runSteps, STEPS, type StepResult } from "./run-steps.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { skip: { type: "string", multiple: true, default: [] } },
});

const known: readonly string[] = STEPS;
const unknown = [...positionals, ...values.skip].filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no step "${unknown.join('", "')}". The steps are: ${STEPS.join(", ")}.`);
  process.exitCode = 2;
} else {
  const wanted = positionals.length > 0 ? positionals : STEPS;
  process.exitCode = await runSteps(
    wanted.filter((step) => !values.skip.includes(step)),
    { execute, print: (line) => console.log(line), nowMs: () => performance.now() },
  );
}

/** The tests speak for themselves while they run; the other steps only when they fail. */
function execute(script: string): Promise<StepResult> {
  const live = script === "check:tests";
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--run", script], {
      stdio: ["ignore", live ? "inherit" : "pipe", live ? "inherit" : "pipe"],
    });
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const stop = (signal: NodeJS.Signals): boolean => child.kill(signal);
    process.once("SIGINT", stop).once("SIGTERM", stop);
    child.on("error", reject);
    child.on("close", (code) => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve({ code: code ?? 130, output });
    });
  });
}
