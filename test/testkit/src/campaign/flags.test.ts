import { expect, test } from "vitest";
import { readFlags } from "./flags.ts";

const DEFAULTS = [["seeds", 200], ["minutes"]] as const;

test.each([
  { name: "defaults", argv: [], flags: { ok: true, numbers: { seeds: 200 }, isRecorded: false } },
  {
    name: "numbers and the record",
    argv: ["--seeds=3", "--minutes", "0.5", "--record"],
    flags: { ok: true, numbers: { seeds: 3, minutes: 0.5 }, isRecorded: true },
  },
  {
    name: "a number below nothing",
    argv: ["--seeds=-1"],
    flags: { ok: false, problem: "--seeds must be a number above 0" },
  },
  {
    name: "a word",
    argv: ["--minutes=ten"],
    flags: { ok: false, problem: "--minutes must be a number above 0" },
  },
  {
    name: "an unknown flag",
    argv: ["--sedes=1"],
    flags: { ok: false, problem: expect.stringContaining("--sedes") },
  },
])("flags are read: $name", ({ argv, flags }) => {
  expect(readFlags(argv, DEFAULTS)).toEqual(flags);
});
