import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseRun } from "./choose-run.ts";
import type { RunFlags } from "./flags.ts";
import { newestRun, newFolderName, runFolder } from "./run-folder.ts";
import { RAW, RECORD } from "./testing/sample-run.ts";

const FLAGS: RunFlags = { only: [], resumes: false, anyway: false };
const NOW = "2026-11-15T20:00:00.000Z";
let results: string;
beforeEach(() => {
  results = mkdtempSync(join(tmpdir(), "results-"));
});
afterEach(() => rmSync(results, { recursive: true }));

test("what is written is read again; nothing half written is left", () => {
  const folder = runFolder(join(results, "a"));
  expect([folder.record(), folder.raw("4")]).toEqual([undefined, undefined]);
  folder.writeRecord(RECORD);
  folder.writeRaw(RAW);
  expect([folder.record(), folder.raw("4")]).toEqual([RECORD, RAW]);
  expect(readdirSync(join(results, "a")).toSorted()).toEqual(["raw", "run.json"]);
});

test("a file of somebody else is not taken for a run", () => {
  const folder = runFolder(results);
  writeFileSync(join(results, "run.json"), '{"name":"something else"}');
  expect(() => folder.record()).toThrow("--out");
});

test.each([
  { size: "full", taken: [], name: "2026-11-15" },
  { size: "quick", taken: [], name: "2026-11-15-quick" },
  { size: "full", taken: ["2026-11-15", "2026-11-15-2"], name: "2026-11-15-3" },
] as const)("a $size run beside $taken is called $name", ({ size, taken, name }) => {
  expect(newFolderName("2026-11-15", size, (each) => taken.some((other) => other === each))).toBe(name);
});

test("the newest run is the one that was begun last", () => {
  for (const [index, name] of ["b", "a"].entries()) {
    runFolder(join(results, name)).writeRecord(RECORD);
    utimesSync(join(results, name, "run.json"), 100 + index, 100 + index);
  }
  expect(newestRun(results)).toBe(join(results, "a"));
  expect(newestRun(join(results, "nowhere"))).toBeUndefined();
});

test("a new run has a folder of its own, and never that of another", () => {
  const { folder, size, seed } = chooseRun(FLAGS, results, NOW);
  expect([folder.path, size, seed]).toEqual([join(results, "2026-11-15"), "full", 1]);
  folder.writeRecord(RECORD);
  expect(chooseRun(FLAGS, results, NOW).folder.path).toBe(join(results, "2026-11-15-2"));
  expect(() => chooseRun({ ...FLAGS, out: folder.path }, results, NOW)).toThrow("--resume");
});

test("a resumed run keeps its size and its seed", () => {
  runFolder(join(results, "a")).writeRecord({ ...RECORD, size: "quick", seed: 7 });
  expect(chooseRun({ ...FLAGS, resumes: true }, results, NOW)).toMatchObject({ size: "quick", seed: 7 });
});

test.each([
  { name: "another size", flags: { size: "full" }, words: "is a quick one" },
  { name: "another seed", flags: { seed: 8 }, words: "has seed 7" },
  {
    name: "another broker",
    flags: { baseline: { url: "https://x", certificates: "c" } },
    words: "our own broker",
  },
] as const)("a run is not resumed with $name", ({ flags, words }) => {
  runFolder(join(results, "a")).writeRecord({ ...RECORD, size: "quick", seed: 7 });
  expect(() => chooseRun({ ...FLAGS, ...flags, resumes: true }, results, NOW)).toThrow(words);
});

test("where there is no run there is none to resume", () => {
  expect(() => chooseRun({ ...FLAGS, resumes: true }, results, NOW)).toThrow("no run to go on with");
});
