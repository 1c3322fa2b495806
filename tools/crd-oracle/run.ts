/**
 * Asks Kubernetes' own code what it makes of deploy/crds and of every admission case, and writes crd-oracle.json.
 * `--check` writes nothing and fails when the committed file is not what Kubernetes says today.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ADMISSION_CASES } from "@resource-broker/contract/testing";
import { parse } from "yaml";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CRDS = fileURLToPath(new URL("../../deploy/crds", import.meta.url));
const ANSWERS = fileURLToPath(new URL("../../packages/contract/golden/crd-oracle.json", import.meta.url));
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const GO_MISSING = 3;
/** The first run downloads and compiles the Kubernetes modules. */
const TIMEOUT_MS = 900_000;

process.exitCode = main(process.argv.slice(2));

function main(flags: readonly string[]): number {
  const unknown = flags.find((flag) => flag !== "--check");
  if (unknown !== undefined) {
    return fail(WRONG_USAGE, `unknown option ${unknown}. Usage: npm run oracle:crd [-- --check]`);
  }
  const files = readdirSync(CRDS)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(CRDS, name), "utf8") }));
  const definitions = files.map(({ text }): unknown => parse(text));
  const run = spawnSync("go", ["run", "."], {
    cwd: HERE,
    input: JSON.stringify({ definitions, cases: ADMISSION_CASES }),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: TIMEOUT_MS,
  });
  if (run.error !== undefined) return notStarted(run.error);
  if (run.status !== 0) return fail(FAILED, `the Go program failed:\n${run.stderr}`);
  const hashes = {
    definitions: Object.fromEntries(files.map(({ name, text }) => [name, sha256(text)])),
    cases: sha256(JSON.stringify(ADMISSION_CASES)),
  };
  const verdicts: unknown = JSON.parse(run.stdout);
  const answers = `${JSON.stringify({ asked: hashes, answered: verdicts }, undefined, 1)}\n`;
  return flags.includes("--check") ? check(answers) : write(answers);
}

function write(answers: string): number {
  writeFileSync(ANSWERS, answers);
  console.log(`crd-oracle: wrote ${ANSWERS}`);
  return DONE;
}

function check(answers: string): number {
  if (readFileSync(ANSWERS, "utf8") === answers) {
    console.log("crd-oracle: crd-oracle.json is what Kubernetes says.");
    return DONE;
  }
  return fail(
    FAILED,
    "crd-oracle.json is not what Kubernetes says. Run `npm run oracle:crd`, then look at git diff.",
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
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
  console.error(`crd-oracle: ${why}`);
  return exitCode;
}
