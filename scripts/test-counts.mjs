/**
 * Prints `N passed, N failed` from vitest's JSON reports: the closing line of .ci/run, which runs this with the
 * machine's own Node (20). A test file that could not even be loaded has no failed test in it; it counts as one.
 */
import { readFileSync } from "node:fs";

/**
 * @typedef {object} TestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {{ status: string, assertionResults: { status: string }[] }[]} testResults
 */

/** @type {(text: string) => TestReport} */
const parseReport = JSON.parse;

let passed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  const report = parseReport(readFileSync(file, "utf8"));
  const unloadable = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  passed += report.numPassedTests;
  failed += report.numFailedTests + unloadable.length;
}
console.log(`${passed} passed, ${failed} failed`);
