import { describe, expect, test } from "vitest";
import { RIGHT, read, settingsOf } from "../settings/testing/read-settings.ts";

describe("the mode of Liqo", () => {
  test.each([
    ["off without kubeconfigs", [], "off"],
    ["liqoctl with them", ["--kubeconfigs-dir=/x"], "liqoctl"],
    ["off when somebody says so", ["--kubeconfigs-dir=/x", "--liqo-mode=off"], "off"],
  ])("is %s", async (_, argv, expected) => {
    expect((await settingsOf(argv))["liqo-mode"]).toBe(expected);
  });
});

describe("wrong settings are one line with the remedy", () => {
  test.each([
    [
      "--liqo-mode=liqoctl",
      "--liqo-mode=liqoctl needs --kubeconfigs-dir: name the folder with the other clusters' kubeconfigs",
    ],
    ["--liqo-mode=magic", '--liqo-mode: "magic" is not one of off, liqoctl'],
    ["--liqo-timeout=5s", "--liqo-timeout: 5s is too short; write at least 30s"],
  ])("%s", async (flag, line) => {
    expect(await read([...RIGHT, flag])).toEqual({ ok: false, problems: [line] });
  });
});
