import { expect, test } from "vitest";
import { readPins } from "../go-assets/cache.ts";
import { testKeptAssets } from "../go-assets/testing/kept-assets.ts";
import { findDeployAssets, findDeployAssetsHere, GO_MODULE } from "./assets.ts";

testKeptAssets({
  tool: "deploy-assets",
  pins: {
    goMod: "require (\n\thelm.sh/helm/v3 v3.22.1 // indirect\n\tk8s.io/client-go v0.37.0 // indirect\n)\n",
    goSum: "sums\n",
  },
  label: "helm-v3.22.1",
  parts: ["helm", "cert-manager", "prometheus-operator"],
  find: findDeployAssets,
});

test("the committed pins are found from here", () => {
  const { goMod } = readPins(GO_MODULE);
  expect(goMod).toContain("tool helm.sh/helm/v3/cmd/helm");
  expect(findDeployAssetsHere({ DEPLOY_ASSETS_CACHE: "/nowhere" })).toEqual({
    isThere: false,
    folder: expect.stringMatching(/^\/nowhere\/helm-v3\./),
  });
});
