/**
 * Asks Kubernetes' own code what it makes of every text in inputs.ts and writes oracle-cases.json.
 * `--check` writes nothing and fails when the committed file is not what Kubernetes says today.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ORACLE_GROUPS } from "./inputs.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CASES_FILE = fileURLToPath(
  new URL("../../packages/domain/src/quantity/oracle-cases.json", import.meta.url),
);
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const GO_MISSING = 3;
/** The first run downloads and compiles the Kubernetes module. */
const TIMEOUT_MS = 300_000;

process.exitCode = main(process.argv.slice(2));

function main(flags: readonly string[]): number {
  const unknown = flags.find((flag) => flag !== "--check");
  if (unknown !== undefined) {
    return fail(WRONG_USAGE, `unknown option ${unknown}. Usage: node tools/quantity-oracle/run.ts [--check]`);
  }
  const run = spawnSync("go", ["run", "."], {
    cwd: HERE,
    input: JSON.stringify(ORACLE_GROUPS),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: TIMEOUT_MS,
  });
  if (run.error !== undefined) return notStarted(run.error);
  if (run.status !== 0) return fail(FAILED, `the Go program failed:\n${run.stderr}`);
  return flags.includes("--check") ? check(run.stdout) : write(run.stdout);
}

function write(answers: string): number {
  writeFileSync(CASES_FILE, answers);
  console.log(`quantity-oracle: wrote ${CASES_FILE}`);
  return DONE;
}

function check(answers: string): number {
  if (readFileSync(CASES_FILE, "utf8") === answers) {
    console.log("quantity-oracle: oracle-cases.json is what Kubernetes says.");
    return DONE;
  }
  return fail(
    FAILED,
    "oracle-cases.json is not what Kubernetes says. Run: node tools/quantity-oracle/run.ts, then look at the difference with git diff.",
  );
}

function notStarted(error: Error): number {
  if ("code" in error && error.code === "ENOENT") {
    return fail(
      GO_MISSING,
      "Go is not installed, and only Kubernetes' own Go code can answer. Install Go 1.26 or newer and run this again. The tests do not need it: they read the committed answers.",
    );
  }
  return fail(FAILED, `cannot run Go: ${error.message}`);
}

function fail(exitCode: number, why: string): number {
  console.error(`quantity-oracle: ${why}`);
  return exitCode;
}
