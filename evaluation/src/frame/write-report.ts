import { basename } from "node:path";
import { Fault } from "@resource-broker/base";
import { renderPng, renderSvg } from "../charts/render-svg.ts";
import type { EvaluationTest } from "../evaluation-test.ts";
import {
  type ReportedTest,
  reportMarkdown,
  rowsOf,
  type RunSummary,
  summaryMarkdown,
} from "../report/report.ts";
import { type RunFolder, type RunRecord, runsLike } from "./run-folder.ts";
import type { Failure } from "./run-tests.ts";

/** Report, summary and charts from what is there as JSON. Returns what went wrong while measuring. */
export function writeReport(
  folder: RunFolder,
  all: readonly EvaluationTest[],
  failed: readonly Failure[],
): string[] {
  const record = recordOf(folder);
  const tests = reportedTests(folder, all);
  for (const chart of tests.flatMap(({ charts }) => charts)) {
    const svg = renderSvg(chart);
    folder.write(`charts/${chart.name}.svg`, svg);
    folder.write(`charts/${chart.name}.png`, renderPng(svg));
  }
  const known = new Set([...tests, ...failed].map(({ id }) => id));
  const left = all.filter(({ id }) => !known.has(id));
  const others = runsLike(folder, record).flatMap((each) => foundIn(each, all));
  const name = basename(folder.path);
  folder.write("report.md", reportMarkdown({ name, record, tests, failed, others, left }));
  folder.write("summary.md", summaryMarkdown(record, rowsOf(tests), "report.md"));
  return tests.flatMap(({ id, faults }) => faults.map((fault) => `${id}: ${fault}`));
}

/** As it stands in the README: `reportLink` is where the report is, seen from there. */
export function summaryOf(folder: RunFolder, tests: readonly EvaluationTest[], reportLink: string): string {
  return summaryMarkdown(recordOf(folder), rowsOf(reportedTests(folder, tests)), reportLink);
}

/** What each test found, without method and charts. */
export function tablesOf(folder: RunFolder, tests: readonly EvaluationTest[]): string {
  return reportedTests(folder, tests)
    .map(({ id, title, text }) => `## ${id} ${title}\n\n${text}\n`)
    .join("\n");
}

/** A run of older sources may have written something else: then it cannot be compared. */
function foundIn(folder: RunFolder, tests: readonly EvaluationTest[]): RunSummary[] {
  try {
    return [{ name: basename(folder.path), rows: rowsOf(reportedTests(folder, tests)) }];
  } catch {
    return [];
  }
}

function reportedTests(folder: RunFolder, tests: readonly EvaluationTest[]): ReportedTest[] {
  return tests.flatMap(({ id, measurement, title, method, judge }) => {
    const raw = folder.raw(measurement);
    if (raw === undefined) return [];
    const { commit, seconds, noise, result } = raw;
    return [{ id, measurement, title, method, commit, seconds, noise, ...judge(result) }];
  });
}

function recordOf(folder: RunFolder): RunRecord {
  const record = folder.record();
  if (record === undefined)
    throw new Fault("not-found", `${folder.path} has no results: there is no run.json in it`);
  return record;
}
