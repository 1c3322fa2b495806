import { fileURLToPath } from "node:url";
import { buildArgs } from "../go-assets/bring.ts";
import {
  type AssetEnvironment,
  type AssetsSearch,
  currentEnvironment,
  findBuild,
  type Pins,
  readPins,
} from "../go-assets/cache.ts";
import { BUILD_ENV } from "../go-assets/run-go.ts";
import { DEFINITIONS, helm, helmVersions, PARTS, PROGRAM } from "./recipe.ts";

const CACHE = { name: "deploy-assets", variable: "DEPLOY_ASSETS_CACHE" };
export const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));

export function findDeployAssets(environment: AssetEnvironment, pins: Pins): AssetsSearch {
  const versions = helmVersions(pins);
  const recipe = [pins.goMod, pins.goSum, BUILD_ENV, DEFINITIONS, buildArgs(helm(versions), "")];
  return findBuild(environment, CACHE, { label: [PROGRAM, versions.helm], recipe, parts: PARTS });
}

/** Looks on this machine. */
export function findDeployAssetsHere(env: AssetEnvironment["env"]): AssetsSearch {
  return findDeployAssets(currentEnvironment(env), readPins(GO_MODULE));
}
