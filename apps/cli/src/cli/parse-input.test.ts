import { expect, test } from "vitest";
import { parseInput } from "./parse-input.ts";

const LINE = {
  options: {
    dir: { kind: "text", value: "folder", default: "certs", env: "CERTS_DIR", summary: "where" },
    days: { kind: "count", value: "days", max: 100, summary: "how long" },
    host: { kind: "list", value: "name", env: "HOSTS", summary: "names" },
    within: { kind: "duration", value: "time", summary: "how soon" },
    force: { kind: "flag", summary: "regardless" },
    output: {
      kind: "choice",
      short: "o",
      value: "format",
      choices: ["table", "json"],
      default: "table",
      summary: "how",
    },
  },
  arguments: [
    { name: "first", summary: "the first" },
    { name: "second", summary: "the second", optional: true },
  ],
} as const;

const DEFAULTS = {
  dir: "certs",
  days: undefined,
  host: [],
  within: undefined,
  force: false,
  output: "table",
};

const HOST_LIST = ["a", "b", "c"];

test.each([
  { name: "defaults when nothing is given", options: {} },
  { name: "a value after a space", args: ["--days", "7"], options: { days: 7 } },
  { name: "a value after an equals sign", args: ["--days=7"], options: { days: 7 } },
  { name: "a short option", args: ["-o", "json"], options: { output: "json" } },
  { name: "a short option without a space", args: ["-ojson"], options: { output: "json" } },
  { name: "a flag", args: ["--force"], options: { force: true } },
  { name: "the last of two", args: ["--days", "1", "--days", "2"], options: { days: 2 } },
  { name: "a list, repeated", args: ["--host", "a,b", "--host=c"], options: { host: HOST_LIST } },
  { name: "days as a duration", args: ["--within", "30d"], options: { within: 30 * 86_400_000 } },
  { name: "a duration as everywhere else", args: ["--within", "1h30m"], options: { within: 5_400_000 } },
  { name: "the environment before the default", env: { CERTS_DIR: "/etc/x" }, options: { dir: "/etc/x" } },
  { name: "the flag first", args: ["--dir", "y"], env: { CERTS_DIR: "/etc/x" }, options: { dir: "y" } },
  { name: "an empty variable as none", env: { CERTS_DIR: "" }, options: {} },
  { name: "a list from the environment", env: { HOSTS: "a,b,c" }, options: { host: HOST_LIST } },
  { name: "a value that starts with a dash after =", args: ["--dir=-x"], options: { dir: "-x" } },
])("a command line is read by its table: $name", ({ args = [], env = {}, options }) => {
  const input = parseInput(LINE, ["word", ...args], env);
  expect(input).toEqual({ options: { ...DEFAULTS, ...options }, words: ["word"] });
});

test("words may stand between options, and after -- anything is a word", () => {
  expect(parseInput(LINE, ["--force", "a", "--days", "1", "b"], {}).words).toEqual(["a", "b"]);
  expect(parseInput(LINE, ["--", "--force", "-x"], {}).words).toEqual(["--force", "-x"]);
});
