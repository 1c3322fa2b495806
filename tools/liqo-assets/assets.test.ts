import { describe, expect, test } from "vitest";
import { readPins } from "../go-assets/cache.ts";
import { testKeptAssets } from "../go-assets/testing/kept-assets.ts";
import { findLiqo, findLiqoHere, GO_MODULE, liqoVersion } from "./assets.ts";

testKeptAssets({
  tool: "liqo-assets",
  pins: { goMod: "require (\n\tgithub.com/liqotech/liqo v1.2.3 // indirect\n)\n", goSum: "sums\n" },
  label: "v1.2.3",
  find: findLiqo,
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
