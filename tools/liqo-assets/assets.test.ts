import { describe, expect, test } from "vitest";
import { readPins, type Surroundings } from "../go-assets/cache.ts";
import { findLiqo, findLiqoHere, GO_MODULE, liqoVersion } from "./assets.ts";

const PINS = { goMod: "require (\n\tgithub.com/liqotech/liqo v1.2.3 // indirect\n)\n", goSum: "sums\n" };

/** A machine on which only these files are. */
function machine(env: Surroundings["env"], ...files: readonly string[]): Surroundings {
  const exists = (path: string): boolean => files.includes(path);
  return { env, home: "/home/ada", platform: "linux", arch: "x64", exists };
}

const folderOn = (surroundings: Surroundings, pins = PINS): string => findLiqo(surroundings, pins).folder;

describe("where the assets are kept", () => {
  const name = "v1\\.2\\.3-linux-amd64-[0-9a-f]{8}$";
  const rows: [name: string, env: Surroundings["env"], folder: RegExp][] = [
    ["below the home folder", {}, new RegExp(`^/home/ada/\\.cache/resource-broker/liqo-assets/${name}`)],
    ["in the user's cache", { XDG_CACHE_HOME: "/c" }, new RegExp(`^/c/resource-broker/liqo-assets/${name}`)],
    ["where we are told", { LIQO_ASSETS_CACHE: "/a", XDG_CACHE_HOME: "/c" }, new RegExp(`^/a/${name}`)],
    ["not in a folder without a name", { LIQO_ASSETS_CACHE: "", XDG_CACHE_HOME: "" }, /^\/home\/ada\//],
  ];
  test.each(rows)("%s", (_, env, folder) => {
    expect(folderOn(machine(env))).toMatch(folder);
  });

  test.each([
    ["other sums", { ...PINS, goSum: "other\n" }],
    ["another requirement", { ...PINS, goMod: `${PINS.goMod}\n` }],
  ])("%s are another folder", (_, pins) => {
    expect(folderOn(machine({}), pins)).not.toBe(folderOn(machine({})));
  });
});

test("only a whole folder counts", () => {
  const folder = folderOn(machine({}));
  expect(findLiqo(machine({}, `${folder}/liqoctl`), PINS).isThere).toBe(false);
  expect(findLiqo(machine({}, `${folder}/complete`), PINS).isThere).toBe(true);
});

describe("the committed pins", () => {
  test("are of Liqo 1.2 or a newer 1.x", () => {
    const [major, minor = 0] = liqoVersion(readPins(GO_MODULE)).slice(1).split(".").map(Number);
    expect(major).toBe(1);
    expect(minor).toBeGreaterThanOrEqual(2);
  });

  test("are found from here", () => {
    const version = liqoVersion(readPins(GO_MODULE));
    expect(findLiqoHere({ LIQO_ASSETS_CACHE: "/nowhere" })).toEqual({
      isThere: false,
      folder: expect.stringContaining(`/nowhere/${version}-`),
    });
  });

  test("go.mod without Liqo is refused", () => {
    expect(() => liqoVersion({ goMod: "require k8s.io/api v0.35.2\n" })).toThrow("pins no release");
  });
});
