import { createHash } from "node:crypto";
import { join } from "node:path";
import { BUILD_ENV, COMPILE_FLAGS, linkFlags, PACKAGES, PROGRAMS, type ProgramName } from "./recipe.ts";

/** Written last: a folder without it is a build that was broken off. */
export const MARKER = "complete";

/** What decides where the programs are. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** As Node names them: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
  readonly exists: (path: string) => boolean;
}

/** The text of go.mod and go.sum beside this file: they pin what is built. */
export interface Pins {
  readonly goMod: string;
  readonly goSum: string;
}

export type AssetsSearch =
  /** All programs are in the folder. */
  | { readonly kind: "found"; readonly folder: string; readonly from: "KUBEBUILDER_ASSETS" | "cache" }
  /** KUBEBUILDER_ASSETS names a folder that lacks some. */
  | { readonly kind: "incomplete"; readonly folder: string; readonly lacks: readonly ProgramName[] }
  /** They can be built into this folder. */
  | { readonly kind: "absent"; readonly folder: string };

export function findAssets(surroundings: Surroundings, pins: Pins): AssetsSearch {
  const { env, exists } = surroundings;
  const given = env["KUBEBUILDER_ASSETS"] ?? "";
  if (given !== "") {
    const lacks = PROGRAMS.filter((name) => !exists(join(given, name)));
    return lacks.length === 0
      ? { kind: "found", folder: given, from: "KUBEBUILDER_ASSETS" }
      : { kind: "incomplete", folder: given, lacks };
  }
  const folder = join(cacheFolder(surroundings), buildName(surroundings, pins));
  return exists(join(folder, MARKER)) ? { kind: "found", folder, from: "cache" } : { kind: "absent", folder };
}

/** Where builds are kept: outside the work tree, so that every checkout shares them. */
function cacheFolder({ env, home }: Surroundings): string {
  const chosen = env["KUBE_ASSETS_CACHE"] ?? "";
  if (chosen !== "") return chosen;
  const userCache = env["XDG_CACHE_HOME"] ?? "";
  return join(userCache === "" ? join(home, ".cache") : userCache, "resource-broker", "kube-assets");
}

/** `v1.34.4-linux-amd64-5f0c9d1a`: other pins or another recipe are another build, and never overwrite this one. */
function buildName({ platform, arch }: Surroundings, { goMod, goSum }: Pins): string {
  const version = kubernetesVersion({ goMod });
  const recipe = [goMod, goSum, PACKAGES, COMPILE_FLAGS, BUILD_ENV, linkFlags(version)];
  const hash = createHash("sha256").update(JSON.stringify(recipe)).digest("hex");
  return [version, platform, arch === "x64" ? "amd64" : arch, hash.slice(0, 8)].join("-");
}

/** `v1.34.4`, as go.mod pins it. */
export function kubernetesVersion({ goMod }: Pick<Pins, "goMod">): string {
  const version = /^\s*(?:require )?k8s\.io\/kubernetes (v\d+\.\d+\.\d+)/m.exec(goMod)?.[1];
  if (version === undefined) throw new Error("go.mod pins no release of k8s.io/kubernetes");
  return version;
}

/** Why the programs are not there and what to do about it. */
export function describeMissing(search: Exclude<AssetsSearch, { readonly kind: "found" }>): string {
  if (search.kind === "absent") {
    const wanted = `${PROGRAMS.slice(0, -1).join(", ")} and ${PROGRAMS.at(-1)}`;
    return `there is no ${wanted} in ${search.folder}. Run npm run kube:assets, or set KUBEBUILDER_ASSETS.`;
  }
  const { folder, lacks } = search;
  const remedy = "Put the missing ones there, of the same version, or unset it to have all of them built.";
  return `KUBEBUILDER_ASSETS is ${folder}, where there is no ${lacks.join(", no ")}. ${remedy}`;
}
