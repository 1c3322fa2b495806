import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Context, EvaluationTest } from "../evaluation-test.ts";
import { readFlags, type RunFlags } from "./flags.ts";
import { divideCores, objectionsTo, readCoreList, readTimes } from "./machine.ts";
import { createProgress } from "./progress.ts";
import {
  chooseRun,
  newestRun,
  type RawTest,
  type RunFolder,
  type RunRecord,
  runFolder,
} from "./run-folder.ts";
import { runTests } from "./run-tests.ts";
import { summaryOf, writeReport } from "./write-report.ts";

const MACHINE = {
  cpu: "Some CPU",
  cores: 2,
  memoryMb: 24_300,
  availableMb: 20_000,
  load: 0.1,
  system: "Linux 6.1",
  node: "v24.1.0",
  commit: "abc1234",
};
const NOW = "2026-11-15T20:00:00.000Z";
const RECORD: RunRecord = {
  size: "full",
  seed: 1,
  startedAt: NOW,
  machine: MACHINE,
  cores: { broker: [0], load: [1] },
};
const RAW: RawTest = {
  id: "4",
  size: "full",
  seed: 1,
  startedAt: NOW,
  commit: "abc1234",
  seconds: 12,
  noise: { loadBefore: 0.2, sameWorkMs: [7, 8, 9], stolenPercent: 0.1 },
  result: { ms: 2 },
};

/** A test that measures nothing: what it finds is the same each time. */
function sampleTest(id: string, more: Partial<EvaluationTest> = {}): EvaluationTest {
  const axis = { label: "x", scale: "linear" } as const;
  const series = [{ label: "this system", style: "ours", points: [{ x: 1, y: 2 }] }] as const;
  const chart = {
    name: `sample-${id}`,
    title: "A chart",
    subtitle: "",
    kind: "lines",
    x: axis,
    y: axis,
    series,
  };
  return {
    id,
    measurement: id,
    title: `Test ${id}`,
    method: `How ${id} is measured.`,
    expectedSeconds: { smoke: 10, quick: 10, full: 10 },
    measure: async () => ({ ms: 2 }),
    judge: () => ({
      faults: [],
      charts: [{ ...chart, kind: "lines" }],
      summary: [{ metric: `figure of ${id}`, ours: "60 ms", theirs: "40 ms", factor: "worse: 1.5×" }],
      text: `What ${id} found.`,
    }),
    ...more,
  };
}

let results: string;
let folder: RunFolder;
beforeEach(() => {
  results = mkdtempSync(join(tmpdir(), "results-"));
  folder = runFolder(join(results, "out"));
  folder.writeRecord(RECORD);
});
afterEach(() => rmSync(results, { recursive: true }));
const report = (): string => readFileSync(join(folder.path, "report.md"), "utf8");

describe("flags", () => {
  const read = (line: string) => readFlags(line.split(" ").filter(Boolean), ["1a", "1b", "2", "10"]);
  const DEFAULTS = { only: [], resumes: false, anyway: false, prints: false };
  const baseline = { url: "https://10.0.0.7:8443", certificates: "certs" };

  test.each([
    ["", { kind: "run", flags: DEFAULTS }],
    ["--only 10,1", { kind: "run", flags: { ...DEFAULTS, only: ["10", "1a", "1b"] } }],
    [
      "--quick --out x --resume --seed 7 --anyway --baseline https://10.0.0.7:8443 --baseline-certs certs",
      {
        kind: "run",
        flags: { ...DEFAULTS, size: "quick", out: "x", resumes: true, seed: 7, anyway: true, baseline },
      },
    ],
    ["--help --only 2", { kind: "help" }],
    ["--summary results/x", { kind: "summary", folder: "results/x" }],
  ])("%s are read", (line, reading) => expect(read(line)).toEqual(reading));

  test.each([
    ["--fast", "--fast"],
    ["quick", "quick"],
    ["--smoke --quick", "choose one"],
    ["--only 12", "there are 1a, 1b, 2, 10"],
    ["--seed x", "--seed x"],
    ["--print --resume", "--print writes no results"],
    ["--baseline https://x", "give both"],
    ["--baseline http://x --baseline-certs c", "https://"],
  ])("%s is refused, and named", (line, problem) => {
    expect(read(line)).toEqual({ kind: "wrong", problem: expect.stringContaining(problem) });
  });
});

describe("the machine", () => {
  test.each([
    ["nothing", {}, []],
    ["one core", { cores: 1, load: 0 }, [/1 core/]],
    ["little memory", { availableMb: 1_000 }, [/1000 MB/]],
    ["other work", { load: 1.7 }, [/busy/]],
  ])("with %s is objected to, but never for a smoke run", (_, change, words) => {
    const objections = objectionsTo({ ...MACHINE, ...change }, "full");
    expect(objections).toHaveLength(words.length);
    for (const word of words) expect(objections.join()).toMatch(word);
    expect(objectionsTo({ ...MACHINE, ...change }, "smoke")).toEqual([]);
  });

  test("has its cores and stolen time read from what the system prints", () => {
    expect(readCoreList(" 0-2,7,9-10\n")).toEqual([0, 1, 2, 7, 9, 10]);
    expect(divideCores([4, 5, 6])).toEqual({ broker: [4], load: [5, 6] });
    expect(divideCores([0])).toEqual({ broker: [], load: [] });
    expect(readTimes("cpu  1 2 3 4 5 6 7 8 100 100\ncpu0 9 9\n")).toEqual({ total: 36, stolen: 8 });
  });
});

describe("the folder of a run", () => {
  const FLAGS: RunFlags = { only: [], resumes: false, anyway: false, prints: false };
  const RESUMED = { ...FLAGS, resumes: true };

  test("is a new one for each run, and never that of another", () => {
    const { folder: first, size, seed } = chooseRun(FLAGS, results, NOW);
    expect([first.path, size, seed]).toEqual([join(results, "2026-11-15"), "full", 1]);
    first.writeRecord(RECORD);
    expect(chooseRun(FLAGS, results, NOW).folder.path).toBe(join(results, "2026-11-15-2"));
    expect(() => chooseRun({ ...FLAGS, out: first.path }, results, NOW)).toThrow("--resume");
    writeFileSync(join(first.path, "run.json"), '{"name":"something else"}');
    expect(() => first.record()).toThrow("--out");
  });

  test("is resumed with its own size and seed: the newest one", () => {
    runFolder(join(results, "a")).writeRecord({ ...RECORD, size: "quick", seed: 7 });
    utimesSync(join(results, "out/run.json"), 100, 100);
    expect(newestRun(results)).toBe(join(results, "a"));
    expect(chooseRun(RESUMED, results, NOW)).toMatchObject({ size: "quick", seed: 7 });
  });

  test.each<[Partial<RunFlags>, string]>([
    [{ size: "quick" }, "is a full one"],
    [{ seed: 8 }, "has seed 1"],
    [{ baseline: { url: "https://x", certificates: "c" } }, "our own broker"],
    [{ out: "/nowhere" }, "no run to go on with"],
  ])("is not resumed with %j", (flags, words) => {
    expect(() => chooseRun({ ...RESUMED, ...flags }, results, NOW)).toThrow(words);
  });
});

describe("running", () => {
  const quiet = (): void => undefined;
  const progress = createProgress({ screen: { write: quiet }, totalSeconds: 1, now: () => 0 });
  const run = (tests: readonly EvaluationTest[], signal = new AbortController().signal) => {
    const context: Omit<Context, "folder" | "progress" | "onCleanup"> = {
      size: "full",
      seed: 1,
      cores: { broker: [], load: [] },
      programs: { broker: "", agent: "", cli: "" },
      signal,
    };
    const scratch = join(results, "scratch");
    const watchNoise = () => () => RAW.noise;
    return runTests({ tests, folder, scratch, context, progress, commit: "abc", watchNoise, now: () => NOW });
  };
  const found = (...ids: readonly string[]): unknown[] => ids.map((id) => folder.raw(id)?.result);

  test("one that fails keeps nobody from being measured, and is measured again; what is finished is not", async () => {
    folder.writeRaw({ ...RAW, id: "6", result: { ms: 77 } });
    folder.writeRaw({ ...RAW, id: "7", size: "quick", result: { ms: 77 } });
    const broken = sampleTest("4", { measure: () => Promise.reject(new Error("no broker")) });
    const others = ["5", "6", "7"].map((id) => sampleTest(id));
    expect(await run([broken, ...others])).toEqual([{ id: "4", title: "Test 4", problem: "no broker" }]);
    expect(found("4", "5", "6", "7")).toEqual([undefined, { ms: 2 }, { ms: 77 }, { ms: 2 }]);
    await run([sampleTest("4")]);
    expect(found("4")).toEqual([{ ms: 2 }]);
  });

  test("what two are reported from is measured once; what it started, and its folder, are gone afterwards", async () => {
    const seen: string[] = [];
    const ended: boolean[] = [];
    const measure = async ({ folder: own, onCleanup }: Context): Promise<unknown> => {
      onCleanup(() => ended.push(existsSync(own)));
      return seen.push(own);
    };
    const both = ["2", "3"].map((id) => sampleTest(id, { measurement: "2-3", measure }));
    await run(both.slice(1));
    await run(both);
    expect([found("2-3", "2", "3"), seen.map((path) => existsSync(path))]).toEqual([
      [1, undefined, undefined],
      [false],
    ]);
    expect(ended).toEqual([true]);
    writeReport(folder, both, []);
    expect(report()).toContain("| 2 Test 2, 3 Test 3 |");
  });

  test("who is stopped keeps what was finished", async () => {
    const stopping = new AbortController();
    const measure = async ({ signal }: Context): Promise<void> => {
      stopping.abort(new Error("stopped"));
      signal.throwIfAborted();
    };
    const tests = [sampleTest("4"), sampleTest("5", { measure }), sampleTest("6")];
    await expect(run(tests, stopping.signal)).rejects.toThrow("stopped");
    expect(found("4", "5", "6")).toEqual([{ ms: 2 }, undefined, undefined]);
  });

  test("shows a line that is drawn again on a terminal, and few plain lines elsewhere", () => {
    const written = { true: "", false: "" };
    for (const isTTY of [true, false]) {
      let now = 0;
      const screen = { isTTY, columns: 100, write: (text: string) => void (written[`${isTTY}`] += text) };
      const shown = createProgress({ screen, totalSeconds: 100, now: () => now });
      shown.begin("4 Latency", 50);
      for (; now < 30_000; now += 1000) shown.update(now / 30_000, `trial ${now / 1000}`);
      shown.end("measured");
      shown.begin("5 Concurrency", 50);
      shown.close();
    }
    expect(written.true.startsWith("\r\u001b[K[")).toBe(true);
    expect(written.true).toContain("\r\u001b[K4 Latency: measured\n");
    expect(written.false.split("\n").slice(0, 2)).toEqual([
      `[${"─".repeat(24)}]  0 %, about 2 min left · 4 Latency: begins`,
      expect.stringContaining("4 Latency: trial"),
    ]);
    expect(written.false).toContain("50 %, about 30 s left · 5 Concurrency");
  });
});

describe("the report", () => {
  test("has all that was measured, what is missing, what was resumed, and what other runs found", () => {
    folder.writeRaw(RAW);
    folder.writeRaw({ ...RAW, id: "5", commit: "def5678" });
    const beside = (name: string, record: RunRecord): void => {
      runFolder(join(results, name)).writeRecord(record);
      runFolder(join(results, name)).writeRaw(RAW);
    };
    beside("earlier", RECORD);
    beside("elsewhere", { ...RECORD, machine: { ...MACHINE, cpu: "other" } });
    const wrong = sampleTest("5", {
      judge: () => ({ ...sampleTest("5").judge({}), faults: ["booked twice"] }),
    });
    const failed = [{ id: "6", title: "Test 6", problem: "no broker" }];
    expect(writeReport(folder, [sampleTest("4"), wrong, sampleTest("6"), sampleTest("7")], failed)).toEqual([
      "5: booked twice",
    ]);
    for (const part of [
      "# Evaluation of 15 November 2026",
      "- **6 Test 6** could not be measured: no broker\n- **5 Test 5**: booked twice",
      "- figure of 4: 60 ms against 40 ms (worse: 1.5×)",
      "| Commit | abc1234, then def5678 |",
      "|  | out | earlier |\n",
      "### Not in this run\n\n- 7 Test 7",
      "**Method.** How 4 is measured.\n\nWhat 4 found.\n\n![A chart](charts/sample-4.svg)",
    ])
      expect(report()).toContain(part);
    expect(existsSync(join(folder.path, "charts/sample-4.png"))).toBe(true);
  });

  test("is summed up for the README: date, machine, table; a smoke run compares nothing", () => {
    folder.writeRaw(RAW);
    expect(summaryOf(folder, [sampleTest("4")], "x/report.md")).toBe(
      `Measured on 15 November 2026 on Some CPU, 2 cores, 24 GB, Linux 6.1, Node 24.1.0; the broker on one core, everything else on the rest. Published figures: the predecessor's own (Go, 96 cores, 2026). [The whole report, with method and charts](x/report.md).

|  | this system | Go thesis, 2026, published | better by |
| --- | --: | --: | --: |
| figure of 4 | 60 ms | 40 ms | worse: 1.5× |
`,
    );
    folder.writeRecord({ ...RECORD, size: "smoke" });
    expect(summaryOf(folder, [sampleTest("4")], "report.md")).toContain(
      "| figure of 4 | 60 ms | 40 ms | – |",
    );
  });
});
