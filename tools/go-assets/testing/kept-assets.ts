import { describe, expect, test } from "vitest";
import type { AssetEnvironment, AssetsSearch, Pins } from "../cache.ts";

/** A machine on which only these files are. */
export function environmentOf(env: AssetEnvironment["env"], ...files: readonly string[]): AssetEnvironment {
  const exists = (path: string): boolean => files.includes(path);
  return { env, home: "/home/ada", platform: "linux", arch: "x64", exists };
}

export interface KeptAssets {
  /** The tool's name, and that of its folder in the user's cache. */
  readonly tool: string;
  readonly pins: Pins;
  /** What a folder's name begins with, by these pins. */
  readonly label: string;
  /** The names of what is in a whole folder. */
  readonly parts: readonly string[];
  readonly find: (environment: AssetEnvironment, pins: Pins) => AssetsSearch;
}

/** What every tool keeps to that brings assets: where they are, and what counts as them. */
export function testKeptAssets({ tool, pins, label, parts, find }: KeptAssets): void {
  const variable = `${tool.replace("-", "_").toUpperCase()}_CACHE`;
  const folderOn = (environment: AssetEnvironment, by = pins): string => find(environment, by).folder;

  describe("where the assets are kept", () => {
    const name = `${label.replaceAll(".", "\\.")}-linux-amd64-[0-9a-f]{8}$`;
    test.each([
      ["below the home folder", {}, `^/home/ada/\\.cache/resource-broker/${tool}/${name}`],
      ["in the user's cache", { XDG_CACHE_HOME: "/c" }, `^/c/resource-broker/${tool}/${name}`],
      ["where we are told", { [variable]: "/a", XDG_CACHE_HOME: "/c" }, `^/a/${name}`],
      ["not in a folder without a name", { [variable]: "", XDG_CACHE_HOME: "" }, "^/home/ada/"],
    ])("%s", (_, env, folder) => {
      expect(folderOn(environmentOf(env))).toMatch(new RegExp(folder));
    });

    test.each([
      ["other sums", { ...pins, goSum: "other\n" }],
      ["another requirement", { ...pins, goMod: `${pins.goMod}\n` }],
    ])("%s are another folder", (_, others) => {
      expect(folderOn(environmentOf({}), others)).not.toBe(folderOn(environmentOf({})));
    });

    test("another processor is another folder", () => {
      expect(folderOn({ ...environmentOf({}), arch: "arm64" })).toMatch(/-linux-arm64-/);
    });
  });

  test("only a whole folder counts", () => {
    const folder = folderOn(environmentOf({}));
    const whole = ["complete", ...parts].map((name) => `${folder}/${name}`);
    expect(find(environmentOf({}, ...whole), pins)).toEqual({ isThere: true, folder });
    for (const gone of whole) {
      const { isThere } = find(environmentOf({}, ...whole.filter((path) => path !== gone)), pins);
      expect({ gone, isThere }).toEqual({ gone, isThere: false });
    }
  });
}
