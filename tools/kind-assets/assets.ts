import { namesIn, recipeOf } from "../go-assets/assets-list.ts";
import {
  type AssetEnvironment,
  type AssetsSearch,
  currentEnvironment,
  findBuild,
  type Pins,
  readPins,
} from "../go-assets/cache.ts";
import { kubernetesVersion } from "../kube-assets/assets.ts";
import { GO_MODULE } from "../kube-assets/find-here.ts";
import { KIND, kindAssetsList } from "./recipe.ts";

const CACHE = { name: "kind-assets", variable: "KIND_ASSETS_CACHE" };

/** The pins are those of `kube-assets`: what a node runs is of the control plane's release. */
export function findKind(environment: AssetEnvironment, pins: Pins): AssetsSearch {
  const list = kindAssetsList(kubernetesVersion(pins));
  return findBuild(environment, CACHE, {
    label: [KIND.version],
    recipe: recipeOf(pins, list),
    parts: namesIn(list),
  });
}

/** Looks on this machine. */
export function findKindHere(env: AssetEnvironment["env"]): AssetsSearch {
  return findKind(currentEnvironment(env), readPins(GO_MODULE));
}
