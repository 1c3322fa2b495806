import { fileURLToPath } from "node:url";
import { type AssetEnvironment, currentEnvironment, readPins } from "../go-assets/cache.ts";
import { type AssetsSearch, findAssets } from "./assets.ts";

export const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));

/** Looks for the programs on this machine. */
export function findAssetsHere(env: AssetEnvironment["env"]): AssetsSearch {
  return findAssets(currentEnvironment(env), readPins(GO_MODULE));
}
