import { expect, test } from "vitest";
import { namesIn } from "../go-assets/assets-list.ts";
import { testKeptAssets } from "../go-assets/testing/kept-assets.ts";
import { findKind, findKindHere } from "./assets.ts";
import { KIND, kindAssetsList } from "./recipe.ts";

testKeptAssets({
  tool: "kind-assets",
  pins: { goMod: "require (\n\tk8s.io/kubernetes v1.34.9\n)\n", goSum: "sums\n" },
  label: KIND.version,
  parts: namesIn(kindAssetsList("v1.34.9")),
  find: findKind,
});

test("kind is looked for by the committed pins", () => {
  expect(findKindHere({ KIND_ASSETS_CACHE: "/nowhere" })).toEqual({
    isThere: false,
    folder: expect.stringContaining(`/nowhere/${KIND.version}-`),
  });
});
