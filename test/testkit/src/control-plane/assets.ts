import { join } from "node:path";
import { findControlPlane, type ProgramName } from "../../../../tools/kube-assets/assets.ts";

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
  const { isThere, folder, why } = findControlPlane(env);
  if (isThere) return { isThere, pathOf: (program) => join(folder, program) };
  if (env["KUBE_REQUIRED"] === "1") throw new Error(`KUBE_REQUIRED is set, but ${why}`);
  say(`Tests on a real control plane are SKIPPED: ${why}`);
  return { isThere: false, why };
}
