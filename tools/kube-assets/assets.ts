import { join } from "node:path";
import { type AssetEnvironment, findBuild, type Pins, pinnedRelease } from "../go-assets/cache.ts";
import { BUILD_ENV, COMPILE_FLAGS } from "../go-assets/run-go.ts";
import { linkFlags, PACKAGES, PROGRAMS, type ProgramName } from "./recipe.ts";

const CACHE = { name: "kube-assets", variable: "KUBE_ASSETS_CACHE" };

export type AssetsSearch =
  /** All programs are in the folder. */
  | { readonly kind: "found"; readonly folder: string; readonly from: "KUBEBUILDER_ASSETS" | "cache" }
  /** KUBEBUILDER_ASSETS names a folder that lacks some. */
  | { readonly kind: "incomplete"; readonly folder: string; readonly lacks: readonly ProgramName[] }
  /** They can be built into this folder. */
  | { readonly kind: "absent"; readonly folder: string };

export function findAssets(environment: AssetEnvironment, pins: Pins): AssetsSearch {
  const { env, exists } = environment;
  const given = env["KUBEBUILDER_ASSETS"] ?? "";
  if (given !== "") {
    const lacks = PROGRAMS.filter((name) => !exists(join(given, name)));
    return lacks.length === 0
      ? { kind: "found", folder: given, from: "KUBEBUILDER_ASSETS" }
      : { kind: "incomplete", folder: given, lacks };
  }
  const version = kubernetesVersion(pins);
  const recipe = [pins.goMod, pins.goSum, PACKAGES, COMPILE_FLAGS, BUILD_ENV, linkFlags(version)];
  const { folder, isThere } = findBuild(environment, CACHE, { label: [version], recipe, parts: PROGRAMS });
  return isThere ? { kind: "found", folder, from: "cache" } : { kind: "absent", folder };
}

/** `v1.34.4`, as go.mod pins it. */
export function kubernetesVersion(pins: Pick<Pins, "goMod">): string {
  return pinnedRelease(pins, "k8s.io/kubernetes");
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
