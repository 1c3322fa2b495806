import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const GO_MISSING = 3;
/** The first run downloads and compiles the Kubernetes modules. */
const TIMEOUT_MS = 900_000;

/** A Go program that answers what Kubernetes' own code makes of something. */
export interface Oracle {
  /** For messages: `quantity-oracle`. */
  readonly name: string;
  /** The npm script that runs it. */
  readonly script: string;
  /** The folder with the Go program. It reads JSON and writes its answers. */
  readonly folder: string;
  readonly question: unknown;
  /** Where the answers are committed. */
  readonly file: string;
  /** The answers as they are committed. */
  readonly render: (answers: string) => string;
}

/** Asks and writes the answers; with `--check` writes nothing and fails when the committed ones differ. */
export function askGo(oracle: Oracle, flags: readonly string[]): number {
  const { name, script, folder, question, file, render } = oracle;
  const fail = (exitCode: number, why: string): number => {
    console.error(`${name}: ${why}`);
    return exitCode;
  };
  const unknown = flags.find((flag) => flag !== "--check");
  if (unknown !== undefined)
    return fail(WRONG_USAGE, `unknown option ${unknown}. Usage: npm run ${script} [-- --check]`);
  const input = JSON.stringify(question);
  const limits = { maxBuffer: 64 * 1024 * 1024, timeout: TIMEOUT_MS };
  const run = spawnSync("go", ["run", "."], { cwd: folder, input, encoding: "utf8", ...limits });
  if (run.error !== undefined) return fail(...notStarted(run.error));
  if (run.status !== 0) return fail(FAILED, `the Go program failed:\n${run.stderr}`);
  const answers = render(run.stdout);
  if (!flags.includes("--check")) writeFileSync(file, answers);
  else if (readFileSync(file, "utf8") !== answers) {
    const what = `${basename(file)} is not what Kubernetes says`;
    return fail(FAILED, `${what}. Run npm run ${script}, then look at git diff.`);
  }
  console.log(`${name}: ${basename(file)} is what Kubernetes says.`);
  return DONE;
}

function notStarted(error: Error): [exitCode: number, why: string] {
  if (!("code" in error) || error.code !== "ENOENT") return [FAILED, `cannot run Go: ${error.message}`];
  const remedy = "Install Go 1.26 or newer and run this again.";
  const comfort = "The tests do not need it: they read the committed answers.";
  return [
    GO_MISSING,
    `Go is not installed, and only Kubernetes' own Go code can answer. ${remedy} ${comfort}`,
  ];
}
