import { fileURLToPath } from "node:url";
import { readPins, type Surroundings, surroundingsHere } from "../go-assets/cache.ts";
import { type AssetsSearch, findAssets } from "./assets.ts";

export const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));

/** Looks for the programs on this machine. */
export function findAssetsHere(env: Surroundings["env"]): AssetsSearch {
  return findAssets(surroundingsHere(env), readPins(GO_MODULE));
}
