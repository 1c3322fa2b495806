import { describe, expect, test } from "vitest";
import { readWrong, settingsOf, type Wrong } from "../settings/testing/read-settings.ts";

describe("the mode of Liqo", () => {
  test.each([
    ["off without kubeconfigs", [], "off"],
    ["liqoctl with them", ["--kubeconfigs-dir=/x"], "liqoctl"],
    ["off when somebody says so", ["--kubeconfigs-dir=/x", "--liqo-mode=off"], "off"],
  ])("is %s", async (_, argv, expected) => {
    expect((await settingsOf(argv))["liqo-mode"]).toBe(expected);
  });
});

const WRONG: readonly Wrong[] = [
  {
    name: "liqoctl without kubeconfigs",
    argv: ["--liqo-mode=liqoctl"],
    line: "--liqo-mode=liqoctl needs --kubeconfigs-dir: name the folder with the other clusters' kubeconfigs",
  },
  {
    name: "a way to peer that there is not",
    argv: ["--liqo-mode=magic"],
    line: '--liqo-mode: "magic" is not one of off, liqoctl',
  },
  {
    name: "peering that cannot end in time",
    argv: ["--liqo-timeout=5s"],
    line: "--liqo-timeout: 5s is too short; write at least 30s",
  },
];

describe("wrong settings are one line with the remedy", () => {
  test.each(WRONG)("$name", async (wrong) => {
    expect(await readWrong(wrong)).toEqual({ ok: false, problems: [wrong.line] });
  });
});
