import { join } from "node:path";
import { describeMissing } from "../../../../tools/kube-assets/assets.ts";
import { findAssetsHere } from "../../../../tools/kube-assets/find-here.ts";
import type { ProgramName } from "../../../../tools/kube-assets/recipe.ts";

/** The programs of a real control plane on this machine. */
export type ControlPlaneAssets =
  | { readonly isThere: true; readonly pathOf: (program: ProgramName) => string }
  /** `why` also says what to do about it. */
  | { readonly isThere: false; readonly why: string };

const sayLoudly = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Tests on a real control plane run wherever its programs are, and are skipped elsewhere, which is said loudly. With
 * `KUBE_REQUIRED=1` (`npm run test:kube`) the programs must be there.
 */
export function controlPlaneAssets(
  env: Readonly<Record<string, string | undefined>> = process.env,
  say: (line: string) => void = sayLoudly,
): ControlPlaneAssets {
  const search = findAssetsHere(env);
  if (search.kind === "found") return { isThere: true, pathOf: (program) => join(search.folder, program) };
  const why = describeMissing(search);
  if (env["KUBE_REQUIRED"] === "1") throw new Error(`KUBE_REQUIRED is set, but ${why}`);
  say(`Tests on a real control plane are SKIPPED: ${why}`);
  return { isThere: false, why };
}
