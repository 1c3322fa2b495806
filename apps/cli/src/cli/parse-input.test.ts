import { describe, expect, test } from "vitest";
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

describe("a command line is read by its table", () => {
  test.each([
    { name: "defaults when nothing is given", args: [], env: {}, options: {} },
    { name: "a value after a space", args: ["--days", "7"], env: {}, options: { days: 7 } },
    { name: "a value after an equals sign", args: ["--days=7"], env: {}, options: { days: 7 } },
    { name: "a short option", args: ["-o", "json"], env: {}, options: { output: "json" } },
    { name: "a short option without a space", args: ["-ojson"], env: {}, options: { output: "json" } },
    { name: "a flag", args: ["--force"], env: {}, options: { force: true } },
    { name: "the last of two", args: ["--days", "1", "--days", "2"], env: {}, options: { days: 2 } },
    {
      name: "a list, repeated and with commas",
      args: ["--host", "a,b", "--host=c"],
      env: {},
      options: { host: ["a", "b", "c"] },
    },
    { name: "days as a duration", args: ["--within", "30d"], env: {}, options: { within: 30 * 86_400_000 } },
    {
      name: "a duration as everywhere else",
      args: ["--within", "1h30m"],
      env: {},
      options: { within: 5_400_000 },
    },
    {
      name: "the environment before the default",
      args: [],
      env: { CERTS_DIR: "/etc/x" },
      options: { dir: "/etc/x" },
    },
    {
      name: "the flag before the environment",
      args: ["--dir", "y"],
      env: { CERTS_DIR: "/etc/x" },
      options: { dir: "y" },
    },
    { name: "an empty variable as none", args: [], env: { CERTS_DIR: "" }, options: {} },
    { name: "a list from the environment", args: [], env: { HOSTS: "a,b" }, options: { host: ["a", "b"] } },
    { name: "a value that starts with a dash after =", args: ["--dir=-x"], env: {}, options: { dir: "-x" } },
  ])("$name", async ({ args, env, options }) => {
    const input = await parseInput(LINE, ["word", ...args], env);
    expect(input).toEqual({ options: { ...DEFAULTS, ...options }, words: ["word"] });
  });

  test("words may stand between options, and after -- anything is a word", async () => {
    expect((await parseInput(LINE, ["--force", "a", "--days", "1", "b"], {})).words).toEqual(["a", "b"]);
    expect((await parseInput(LINE, ["--", "--force", "-x"], {})).words).toEqual(["--force", "-x"]);
  });
});
