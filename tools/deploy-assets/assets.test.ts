import { describe, expect, test } from "vitest";
import { readPins, type Surroundings } from "../go-assets/cache.ts";
import { findDeployAssets, findDeployAssetsHere, GO_MODULE } from "./assets.ts";

const PINS = {
  goMod: "require (\n\thelm.sh/helm/v3 v3.22.1 // indirect\n\tk8s.io/client-go v0.37.0 // indirect\n)\n",
  goSum: "sums\n",
};

/** A machine on which only these files are. */
function machine(env: Surroundings["env"], ...files: readonly string[]): Surroundings {
  const exists = (path: string): boolean => files.includes(path);
  return { env, home: "/home/ada", platform: "linux", arch: "x64", exists };
}

const folderOn = (surroundings: Surroundings, pins = PINS): string =>
  findDeployAssets(surroundings, pins).folder;

describe("where the assets are kept", () => {
  const name = "helm-v3\\.22\\.1-linux-amd64-[0-9a-f]{8}$";
  const rows: [name: string, env: Surroundings["env"], folder: RegExp][] = [
    ["below the home folder", {}, new RegExp(`^/home/ada/\\.cache/resource-broker/deploy-assets/${name}`)],
    [
      "in the user's cache",
      { XDG_CACHE_HOME: "/c" },
      new RegExp(`^/c/resource-broker/deploy-assets/${name}`),
    ],
    ["where we are told", { DEPLOY_ASSETS_CACHE: "/a", XDG_CACHE_HOME: "/c" }, new RegExp(`^/a/${name}`)],
    ["not in a folder without a name", { DEPLOY_ASSETS_CACHE: "", XDG_CACHE_HOME: "" }, /^\/home\/ada\//],
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
  expect(findDeployAssets(machine({}, `${folder}/helm`), PINS).isThere).toBe(false);
  expect(findDeployAssets(machine({}, `${folder}/complete`), PINS).isThere).toBe(true);
});

test("the committed pins are found from here", () => {
  const { goMod } = readPins(GO_MODULE);
  expect(goMod).toContain("tool helm.sh/helm/v3/cmd/helm");
  expect(findDeployAssetsHere({ DEPLOY_ASSETS_CACHE: "/nowhere" })).toEqual({
    isThere: false,
    folder: expect.stringMatching(/^\/nowhere\/helm-v3\./),
  });
});
