import { expect, test } from "vitest";
import { readFlags } from "./flags.ts";

const IDS = ["1a", "1b", "1c", "2", "4", "10", "11"];
const read = (...args: readonly string[]) => readFlags(args, IDS);

test("without flags the whole is measured into a new folder", () => {
  expect(read()).toEqual({ kind: "run", flags: { only: [], resumes: false, anyway: false } });
});

test.each([
  { args: ["--only", "4,2"], only: ["4", "2"] },
  { args: ["--only", "1"], only: ["1a", "1b", "1c"] },
  { args: ["--only", "1b, 10"], only: ["1b", "10"] },
])("$args chooses $only", ({ args, only }) => {
  expect(read(...args)).toMatchObject({ kind: "run", flags: { only } });
});

test("everything can be said at once", () => {
  const args = ["--quick", "--out", "x", "--resume", "--seed", "7", "--anyway"];
  expect(read(...args, "--baseline", "https://10.0.0.7:8443", "--baseline-certs", "certs")).toEqual({
    kind: "run",
    flags: {
      size: "quick",
      only: [],
      out: "x",
      resumes: true,
      seed: 7,
      anyway: true,
      baseline: { url: "https://10.0.0.7:8443", certificates: "certs" },
    },
  });
});

test.each([
  { name: "an unknown flag", args: ["--fast"], problem: "--fast" },
  { name: "a stray word", args: ["quick"], problem: "quick" },
  { name: "two sizes", args: ["--smoke", "--quick"], problem: "choose one" },
  { name: "a test that is not there", args: ["--only", "12"], problem: "there are 1a, 1b, 1c, 2, 4, 10, 11" },
  { name: "a seed that is no number", args: ["--seed", "x"], problem: "--seed x" },
  { name: "half a baseline", args: ["--baseline", "https://x"], problem: "give both" },
  {
    name: "a baseline without TLS",
    args: ["--baseline", "http://x", "--baseline-certs", "c"],
    problem: "https://",
  },
])("$name is refused, and named", ({ args, problem }) => {
  const reading = read(...args);
  expect(reading.kind).toBe("wrong");
  expect(reading).toMatchObject({ problem: expect.stringContaining(problem) as string });
});

test("help and summary measure nothing", () => {
  expect(read("--help", "--only", "4")).toEqual({ kind: "help" });
  expect(read("--summary", "results/x")).toEqual({ kind: "summary", folder: "results/x" });
});
