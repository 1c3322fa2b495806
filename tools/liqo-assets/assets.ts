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
import { LIQO, liqoAssetsList } from "./recipe.ts";

const CACHE = { name: "liqo-assets", variable: "LIQO_ASSETS_CACHE" };

/** The pins are those of `kube-assets`: the scheduler is of the control plane's release. */
export function findLiqo(environment: AssetEnvironment, pins: Pins): AssetsSearch {
  const list = liqoAssetsList(kubernetesVersion(pins));
  return findBuild(environment, CACHE, {
    label: [LIQO.version],
    recipe: recipeOf(pins, list),
    parts: namesIn(list),
  });
}

/** Looks on this machine. */
export function findLiqoHere(env: AssetEnvironment["env"]): AssetsSearch {
  return findLiqo(currentEnvironment(env), readPins(GO_MODULE));
}
