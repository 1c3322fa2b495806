import { expect, test } from "vitest";
import { namesIn } from "../go-assets/assets-list.ts";
import { testKeptAssets } from "../go-assets/testing/kept-assets.ts";
import { findLiqo, findLiqoHere } from "./assets.ts";
import { LIQO, liqoAssetsList } from "./recipe.ts";

testKeptAssets({
  tool: "liqo-assets",
  pins: { goMod: "require (\n\tk8s.io/kubernetes v1.34.9\n)\n", goSum: "sums\n" },
  label: LIQO.version,
  parts: namesIn(liqoAssetsList("v1.34.9")),
  find: findLiqo,
});

test("Liqo is 1.2 or a newer 1.x, and looked for by the committed pins", () => {
  expect(LIQO.version).toMatch(/^v1\.([2-9]|\d\d)\./);
  expect(findLiqoHere({ LIQO_ASSETS_CACHE: "/nowhere" })).toEqual({
    isThere: false,
    folder: expect.stringContaining(`/nowhere/${LIQO.version}-`),
  });
});
