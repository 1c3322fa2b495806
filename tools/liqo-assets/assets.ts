import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILD_ENV } from "../kube-assets/recipe.ts";
import { buildArgs, DEFINITIONS, MODULE } from "./recipe.ts";

/** Written last: a folder without it was broken off. */
export const MARKER = "complete";
export const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));

/** What decides where the assets are. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** As Node names them: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
  readonly exists: (path: string) => boolean;
}

/** The text of go.mod and go.sum beside this file: they pin what is taken. */
export interface Pins {
  readonly goMod: string;
  readonly goSum: string;
}

export interface AssetsSearch {
  readonly isThere: boolean;
  readonly folder: string;
}

export function findLiqo(surroundings: Surroundings, pins: Pins): AssetsSearch {
  const folder = join(cacheFolder(surroundings), folderName(surroundings, pins));
  return { isThere: surroundings.exists(join(folder, MARKER)), folder };
}

/** Looks on this machine. */
export function findLiqoHere(env: Surroundings["env"]): AssetsSearch {
  const { platform, arch } = process;
  return findLiqo({ env, home: homedir(), platform, arch, exists: existsSync }, readPins());
}

export function readPins(): Pins {
  const read = (name: string): string => readFileSync(join(GO_MODULE, name), "utf8");
  return { goMod: read("go.mod"), goSum: read("go.sum") };
}

/** Outside the work tree, so that every checkout shares it. */
function cacheFolder({ env, home }: Surroundings): string {
  const chosen = env["LIQO_ASSETS_CACHE"] ?? "";
  if (chosen !== "") return chosen;
  const userCache = env["XDG_CACHE_HOME"] ?? "";
  return join(userCache === "" ? join(home, ".cache") : userCache, "resource-broker", "liqo-assets");
}

/** `v1.2.0-linux-amd64-5f0c9d1a`: other pins or another recipe never overwrite this one. */
function folderName({ platform, arch }: Surroundings, { goMod, goSum }: Pins): string {
  const version = liqoVersion({ goMod });
  const recipe = [goMod, goSum, BUILD_ENV, DEFINITIONS, buildArgs(version, "")];
  const hash = createHash("sha256").update(JSON.stringify(recipe)).digest("hex");
  return [version, platform, arch === "x64" ? "amd64" : arch, hash.slice(0, 8)].join("-");
}

/** `v1.2.0`, as go.mod pins it. */
export function liqoVersion({ goMod }: Pick<Pins, "goMod">): string {
  const version = /^\s*(?:require )?github\.com\/liqotech\/liqo (v\d+\.\d+\.\d+)/m.exec(goMod)?.[1];
  if (version === undefined) throw new Error(`go.mod pins no release of ${MODULE}`);
  return version;
}
