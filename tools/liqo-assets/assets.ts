import { fileURLToPath } from "node:url";
import { buildArgs } from "../go-assets/bring.ts";
import {
  type AssetsSearch,
  findBuild,
  type Pins,
  pinnedRelease,
  readPins,
  type Surroundings,
  surroundingsHere,
} from "../go-assets/cache.ts";
import { BUILD_ENV } from "../go-assets/run-go.ts";
import { DEFINITIONS, liqoctl, MODULE } from "./recipe.ts";

const CACHE = { name: "liqo-assets", variable: "LIQO_ASSETS_CACHE" };
export const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));

export function findLiqo(surroundings: Surroundings, pins: Pins): AssetsSearch {
  const version = liqoVersion(pins);
  const recipe = [pins.goMod, pins.goSum, BUILD_ENV, DEFINITIONS, buildArgs(liqoctl(version), "")];
  return findBuild(surroundings, CACHE, { label: [version], recipe });
}

/** Looks on this machine. */
export function findLiqoHere(env: Surroundings["env"]): AssetsSearch {
  return findLiqo(surroundingsHere(env), readPins(GO_MODULE));
}

/** `v1.2.0`, as go.mod pins it. */
export function liqoVersion(pins: Pick<Pins, "goMod">): string {
  return pinnedRelease(pins, MODULE);
}
