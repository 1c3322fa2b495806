import { integer } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { IGNORED_GO_FLAGS, PROGRAM_SETTINGS, readSettings } from "./read-settings.ts";

const TABLE = {
  speed: integer({ description: "How fast.", defaultValue: 1, minimum: 0, maximum: 10 }),
  limit: integer({ description: "How fast at most.", defaultValue: 10, minimum: 0, maximum: 10 }),
  ...PROGRAM_SETTINGS,
};

interface Given {
  readonly argv?: readonly string[];
  readonly env?: Record<string, string>;
  readonly file?: () => Promise<unknown>;
}

function read({ argv = [], env = {}, file = () => Promise.reject(new Error("no file")) }: Given) {
  return readSettings(
    {
      table: TABLE,
      envPrefix: "TEST_",
      ignored: IGNORED_GO_FLAGS,
      crossFieldProblems: ({ speed, limit }) => (speed > limit ? ["--speed is above --limit"] : []),
    },
    { argv, env, readFile: file },
  );
}

describe("a program's settings", () => {
  test("come from flag, environment, file and default, in this order", async () => {
    const file = () => Promise.resolve({ speed: 2, limit: 5, "log-level": "debug" });
    const reading = await read({ argv: ["--config=x", "--speed=4"], env: { TEST_LIMIT: "6" }, file });
    expect(reading).toMatchObject({
      ok: true,
      settings: { speed: 4, limit: 6, "log-level": "debug", "log-format": "auto" },
    });
  });

  const wrong: readonly (Given & { readonly name: string; readonly problem: string })[] = [
    { name: "an unknown flag", argv: ["--spede=1"], problem: "did you mean --speed?" },
    { name: "values that contradict each other", argv: ["--speed=2", "--limit=1"], problem: "above" },
    { name: "a file that is not there", argv: ["--config=x"], problem: "--config: no file" },
    {
      name: "a file that holds a list",
      argv: ["--config=x"],
      file: () => Promise.resolve(["speed"]),
      problem: "--config: x must hold settings by name",
    },
    {
      name: "a file that holds nothing",
      argv: ["--config=x"],
      file: () => Promise.resolve(null),
      problem: "--config: x must hold settings by name",
    },
    {
      name: "a contradiction that only the file brings",
      argv: ["--config=x", "--speed=9"],
      file: () => Promise.resolve({ limit: 3 }),
      problem: "above",
    },
  ];
  test.each(wrong)("refuse $name", async ({ problem, ...given }) => {
    const reading = await read(given);
    expect(reading.ok ? [] : reading.problems).toEqual([expect.stringContaining(problem)]);
  });

  test.each(["help", "version"])("answer --%s whatever the rest says", async (flag) => {
    const reading = await read({ argv: [`--${flag}`, "--speed=2", "--limit=1", "--config=x"] });
    expect(reading).toMatchObject({ ok: true, settings: { [flag]: true } });
  });

  test("warn of flags that have no effect any more", async () => {
    expect(await read({ argv: ["--zap-devel"] })).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining("--zap-devel")],
    });
  });
});
