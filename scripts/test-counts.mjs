/**
 * Prints `N passed, N failed` from vitest's JSON report: the closing line of .ci/run, which runs this with the
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

const report = parseReport(readFileSync(process.argv[2] ?? "", "utf8"));
const unloadable = report.testResults.filter(
  (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
);
console.log(`${report.numPassedTests} passed, ${report.numFailedTests + unloadable.length} failed`);
