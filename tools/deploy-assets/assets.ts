import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILD_ENV } from "../kube-assets/recipe.ts";
import { buildArgs, DEFINITIONS, helmVersions } from "./recipe.ts";

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

/** The text of go.mod and go.sum beside this file: they pin what helm is built of. */
export interface Pins {
  readonly goMod: string;
  readonly goSum: string;
}

export interface AssetsSearch {
  readonly isThere: boolean;
  readonly folder: string;
}

export function findDeployAssets(surroundings: Surroundings, pins: Pins): AssetsSearch {
  const folder = join(cacheFolder(surroundings), folderName(surroundings, pins));
  return { isThere: surroundings.exists(join(folder, MARKER)), folder };
}

/** Looks on this machine. */
export function findDeployAssetsHere(env: Surroundings["env"]): AssetsSearch {
  const { platform, arch } = process;
  return findDeployAssets({ env, home: homedir(), platform, arch, exists: existsSync }, readPins());
}

export function readPins(): Pins {
  const read = (name: string): string => readFileSync(join(GO_MODULE, name), "utf8");
  return { goMod: read("go.mod"), goSum: read("go.sum") };
}

/** Outside the work tree, so that every checkout shares it. */
function cacheFolder({ env, home }: Surroundings): string {
  const chosen = env["DEPLOY_ASSETS_CACHE"] ?? "";
  if (chosen !== "") return chosen;
  const userCache = env["XDG_CACHE_HOME"] ?? "";
  return join(userCache === "" ? join(home, ".cache") : userCache, "resource-broker", "deploy-assets");
}

/** `helm-v3.22.0-linux-amd64-5f0c9d1a`: other pins or another recipe never overwrite this one. */
function folderName({ platform, arch }: Surroundings, { goMod, goSum }: Pins): string {
  const versions = helmVersions(goMod);
  const recipe = [goMod, goSum, BUILD_ENV, DEFINITIONS, buildArgs(versions, "")];
  const hash = createHash("sha256").update(JSON.stringify(recipe)).digest("hex");
  return ["helm", versions.helm, platform, arch === "x64" ? "amd64" : arch, hash.slice(0, 8)].join("-");
}
