import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Context } from "../evaluation-test.ts";
import type { ListedTest } from "../tests/list-test.ts";
import { createProgress } from "./progress.ts";
import { type RunFolder, type RunRecord, runFolder } from "./run-folder.ts";
import { runTests } from "./run-tests.ts";
import { RAW, RECORD, sampleTest } from "./testing/sample-run.ts";
import { summaryOf, writeReport } from "./write-report.ts";

let path: string;
let folder: RunFolder;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "run-"));
  folder = runFolder(join(path, "out"));
  folder.writeRecord(RECORD);
});
afterEach(() => rmSync(path, { recursive: true }));

const quiet = (): void => undefined;
const PROGRESS = createProgress({ screen: { write: quiet }, totalSeconds: 1, now: () => 0 });

function run(tests: readonly ListedTest[], signal = new AbortController().signal) {
  const context: Omit<Context, "folder" | "progress"> = {
    size: "full",
    seed: 1,
    cores: { broker: [], load: [] },
    programs: { broker: "", agent: "", cli: "", agentNodeFlags: [] },
    signal,
    log: { info: quiet, warn: quiet, error: quiet },
  };
  const now = (): string => RECORD.startedAt;
  return runTests({
    tests,
    folder,
    scratch: join(path, "scratch"),
    context,
    progress: PROGRESS,
    commit: "abc",
    watchNoise: () => () => RAW.noise,
    now,
  });
}

test("a test that fails does not keep the others from being measured, and is measured again next time", async () => {
  const broken = sampleTest("4", { measure: () => Promise.reject(new Error("no broker")) });
  expect(await run([broken, sampleTest("5")])).toEqual([{ id: "4", title: "Test 4", problem: "no broker" }]);
  expect([folder.raw("4"), folder.raw("5")?.result]).toEqual([undefined, { ms: 2 }]);
  await run([sampleTest("4")]);
  expect(folder.raw("4")?.result).toEqual({ ms: 2 });
});

test("what is finished is not measured again, unless it was another size", async () => {
  folder.writeRaw({ ...RAW, id: "4", result: { ms: 77 } });
  folder.writeRaw({ ...RAW, id: "5", size: "quick", result: { ms: 77 } });
  await run([sampleTest("4"), sampleTest("5")]);
  expect([folder.raw("4")?.result, folder.raw("5")?.result]).toEqual([{ ms: 77 }, { ms: 2 }]);
});

test("a test has a folder that is gone afterwards", async () => {
  let own = "";
  const looking = sampleTest("5", {
    measure: async ({ folder: place }) => {
      own = place;
      return { isThere: existsSync(place) };
    },
  });
  await run([looking]);
  expect(folder.raw("5")?.result).toEqual({ isThere: true });
  expect(existsSync(own)).toBe(false);
});

test("what two tests are reported from is measured once, whichever is asked for", async () => {
  let times = 0;
  const measure = async (): Promise<unknown> => ({ times: (times += 1) });
  const both = ["2", "3"].map((id) => sampleTest(id, { measurement: "2-3", measure }));
  await run(both.slice(1));
  await run(both);
  expect([times, folder.raw("2-3")?.result, folder.raw("2"), folder.raw("3")]).toEqual([
    1,
    { times: 1 },
    undefined,
    undefined,
  ]);
  writeReport(folder, both, []);
  const report = readFileSync(join(folder.path, "report.md"), "utf8");
  expect(report).toContain("| 2 Test 2, 3 Test 3 |");
  expect(report.match(/\[Every sample\]\(raw\/2-3\.json\)/g)).toHaveLength(2);
});

test("where it cannot be measured, neither test is, and it is not tried twice", async () => {
  let times = 0;
  const measure = async (): Promise<never> => {
    times += 1;
    throw new Error("no broker");
  };
  const both = ["2", "3"].map((id) => sampleTest(id, { measurement: "2-3", measure }));
  expect((await run(both)).map(({ id }) => id)).toEqual(["2", "3"]);
  expect(times).toBe(1);
});

test("who is stopped keeps what was finished", async () => {
  const stopping = new AbortController();
  const stopped = sampleTest("5", {
    measure: async ({ signal }) => {
      stopping.abort(new Error("stopped"));
      signal.throwIfAborted();
    },
  });
  await expect(run([sampleTest("4"), stopped, sampleTest("6")], stopping.signal)).rejects.toThrow("stopped");
  expect([folder.raw("4") !== undefined, folder.raw("5"), folder.raw("6")]).toEqual([
    true,
    undefined,
    undefined,
  ]);
});

test("the report has summary, method, findings and charts of what was measured, and says what is missing", () => {
  folder.writeRaw(RAW);
  const tests = [sampleTest("4"), sampleTest("5"), sampleTest("6")];
  expect(writeReport(folder, tests, [{ id: "5", title: "Test 5", problem: "no broker" }])).toEqual([]);
  const report = readFileSync(join(folder.path, "report.md"), "utf8");
  for (const part of [
    "# Evaluation of 15 November 2026",
    "| figure of 4 | 2 ms | 4 ms | 2.0× |",
    "**5 Test 5** could not be measured: no broker",
    "### Not in this run\n\n- 6 Test 6",
    "**Method.** How 4 is measured.",
    "What 4 found.",
    "![A chart](charts/sample-4.svg)",
    "Some CPU, 2 cores",
  ])
    expect(report).toContain(part);
  expect(existsSync(join(folder.path, "charts/sample-4.png"))).toBe(true);
});

test("a run that was resumed with other sources says so", () => {
  folder.writeRaw(RAW);
  folder.writeRaw({ ...RAW, id: "5", commit: "def5678" });
  writeReport(folder, [sampleTest("4"), sampleTest("5")], []);
  expect(readFileSync(join(folder.path, "report.md"), "utf8")).toContain(
    "| Commit | abc1234, then def5678 |",
  );
});

test("another run of the same size on the same machine is set beside this one", () => {
  const beside = (name: string, record: RunRecord, ms: string): void => {
    const other = runFolder(join(path, name));
    other.writeRecord(record);
    other.writeRaw({ ...RAW, result: { ms } });
  };
  const reportedTest = sampleTest("4", {
    judge: (raw) => {
      const ours = JSON.stringify(raw);
      const row = { metric: "time", ours, theirs: "–", factor: "–" };
      return { faults: [], charts: [], findings: { summary: [row], text: "" } };
    },
  });
  folder.writeRaw(RAW);
  beside("earlier", RECORD, "like this");
  beside("short", { ...RECORD, size: "quick" }, "too short");
  beside("elsewhere", { ...RECORD, machine: { ...RECORD.machine, cpu: "other" } }, "elsewhere");
  mkdirSync(join(path, "foreign"));
  writeFileSync(join(path, "foreign/run.json"), '{"name":"something else"}');
  writeReport(folder, [reportedTest], []);
  const report = readFileSync(join(folder.path, "report.md"), "utf8");
  expect(report).toContain("|  | out | earlier |");
  expect(report).toContain('| time | {"ms":2} | {"ms":"like this"} |');
});

test("what is wrong is returned, and stands in the report", () => {
  folder.writeRaw(RAW);
  const judged = sampleTest("4").judge({});
  const wrong = sampleTest("4", { judge: () => ({ ...judged, faults: ["booked twice"] }) });
  expect(writeReport(folder, [wrong], [])).toEqual(["4: booked twice"]);
  expect(readFileSync(join(folder.path, "report.md"), "utf8")).toContain("**4 Test 4**: booked twice");
});

test("where we are worse is said by itself", () => {
  folder.writeRaw(RAW);
  const row = { metric: "memory", ours: "60 MB", theirs: "40 MB", factor: "worse: 1.5×" };
  const judged = sampleTest("4").judge({});
  const worse = sampleTest("4", { judge: () => ({ ...judged, findings: { summary: [row], text: "" } }) });
  writeReport(folder, [worse], []);
  expect(readFileSync(join(folder.path, "report.md"), "utf8")).toContain(
    "- memory: 60 MB against 40 MB (worse: 1.5×)",
  );
});

test("the README's summary has date, machine, table and where the report is", () => {
  folder.writeRaw(RAW);
  expect(summaryOf(folder, [sampleTest("4")], "evaluation/results/2026-11-15/report.md")).toBe(
    `Measured on 15 November 2026 on Some CPU, 2 cores, 24 GB, Linux 6.1, Node 24.1.0; the broker on one core, everything else on the rest. Published figures: the predecessor's own (Go, 96 cores, 2026). [The whole report, with method and charts](evaluation/results/2026-11-15/report.md).

|  | this system | Go thesis, 2026, published | better by |
| --- | --: | --: | --: |
| figure of 4 | 2 ms | 4 ms | 2.0× |
`,
  );
});

test("a smoke run compares nothing", () => {
  folder.writeRecord({ ...RECORD, size: "smoke" });
  folder.writeRaw(RAW);
  const summary = summaryOf(folder, [sampleTest("4")], "report.md");
  expect(summary).toContain("| figure of 4 | 2 ms | 4 ms | – |");
  expect(summary).toContain("mean nothing");
});
