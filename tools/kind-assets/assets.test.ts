import { expect, test } from "vitest";
import { testKeptAssets } from "../go-assets/testing/kept-assets.ts";
import { findKind, findKindHere } from "./assets.ts";
import { KIND } from "./recipe.ts";

testKeptAssets({
  tool: "kind-assets",
  pins: { goMod: "require (\n\tk8s.io/kubernetes v1.34.9\n)\n", goSum: "sums\n" },
  label: KIND.version,
  find: findKind,
});

test("kind is looked for by the committed pins", () => {
  expect(findKindHere({ KIND_ASSETS_CACHE: "/nowhere" })).toEqual({
    isThere: false,
    folder: expect.stringContaining(`/nowhere/${KIND.version}-`),
  });
});
