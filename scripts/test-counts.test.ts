import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const PASSED = { status: "passed", assertionResults: [{ status: "passed" }] };
const FAILED = { status: "failed", assertionResults: [{ status: "passed" }, { status: "failed" }] };
const UNLOADABLE = { status: "failed", assertionResults: [] };
const report = (passed: number, failed: number, ...files: readonly object[]) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  testResults: files,
});

it.each([
  ["1 passed, 0 failed", [report(1, 0, PASSED)]],
  ["2 passed, 1 failed", [report(2, 1, PASSED, FAILED)]],
  ["1 passed, 1 failed", [report(1, 0, PASSED, UNLOADABLE)]],
  ["3 passed, 2 failed", [report(1, 1), report(2, 1)]],
])("the closing line of .ci/run is %s", (line, reports) => {
  const folder = mkdtempSync(join(tmpdir(), "counts-"));
  const files = reports.map((each, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(each));
    return file;
  });
  const script = join(import.meta.dirname, "test-counts.mjs");
  const { stdout } = spawnSync(process.execPath, [script, ...files], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect(stdout).toBe(`${line}\n`);
});
