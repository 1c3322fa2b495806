import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const passedFile = { status: "passed", assertionResults: [{ status: "passed" }] };
const failedFile = { status: "failed", assertionResults: [{ status: "passed" }, { status: "failed" }] };
const unloadableFile = { status: "failed", assertionResults: [] };

const rows = [
  { name: "all tests pass", passed: 1, failed: 0, files: [passedFile], line: "1 passed, 0 failed" },
  { name: "a test fails", passed: 2, failed: 1, files: [passedFile, failedFile], line: "2 passed, 1 failed" },
  {
    name: "a file cannot be loaded",
    passed: 1,
    failed: 0,
    files: [passedFile, unloadableFile],
    line: "1 passed, 1 failed",
  },
];

describe("the closing line of .ci/run", () => {
  it.each(rows)("is $line when $name", ({ passed, failed, files, line }) => {
    const folder = mkdtempSync(join(tmpdir(), "counts-"));
    const report = join(folder, "report.json");
    writeFileSync(
      report,
      JSON.stringify({ numPassedTests: passed, numFailedTests: failed, testResults: files }),
    );
    const { stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "test-counts.mjs"), report], {
      encoding: "utf8",
    });
    rmSync(folder, { recursive: true });
    expect(stdout).toBe(`${line}\n`);
  });

  it("adds up the reports of several runs", () => {
    const folder = mkdtempSync(join(tmpdir(), "counts-"));
    const reports = [1, 2].map((passed) => {
      const file = join(folder, `${passed}.json`);
      writeFileSync(file, JSON.stringify({ numPassedTests: passed, numFailedTests: 1, testResults: [] }));
      return file;
    });
    const script = join(import.meta.dirname, "test-counts.mjs");
    const { stdout } = spawnSync(process.execPath, [script, ...reports], { encoding: "utf8" });
    rmSync(folder, { recursive: true });
    expect(stdout).toBe("3 passed, 2 failed\n");
  });
});
